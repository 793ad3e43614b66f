import Foundation
package import OfferCrypto

/// An `offer-signer serve` process on a free port of 127.0.0.1, with a disposable key.
///
/// The environment file selects the signing key, so a test can change the key with a reload.
package final class RunningService: Sendable {
    package struct DidNotStart: Error {
        package let log: String
    }

    package static let keyID = "TESTKEY123"

    package let port: Int
    package let verifyingKey: VerifyingKey
    /// The key folder.
    package let keys: TemporaryFolder
    private let process: Process
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - keys: the key folder of an earlier service; nil for a new one.
    ///   - descriptors: the limit on open files and connections; nil inherits the limit of the test process.
    ///   - program: another build of `offer-signer`.
    ///   - prepare: adds files to the key folder before the service starts.
    package init(
        arguments: [String] = [], environment: [String: String] = [:], keys: TemporaryFolder? = nil,
        descriptors: Int? = nil, program: String = Command.offerSigner,
        prepare: (_ keys: TemporaryFolder) throws -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        self.keys = try keys ?? TemporaryFolder()
        let file = "SubscriptionKey_\(Self.keyID).p8"
        if keys == nil { try self.keys.write(PrivateKeyPEM.generate(), to: file) }
        verifyingKey = try SigningKey(text: self.keys.read(file)).verifyingKey
        try folder.write("SUBSCRIPTION_OFFERS_KEY_ID=\(Self.keyID)\n".utf8, to: "env")
        try prepare(self.keys)
        for name in ["out", "log"] { try folder.write([], to: name) }

        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments =
            [
                "-c", (descriptors.map { "ulimit -n \($0) && " } ?? "") + "exec \"$0\" \"$@\"", program, "serve",
            ]
            + ["--keys-dir", self.keys.path, "--env-file", folder.path + "/env"]
            + (arguments.contains("--port") ? [] : ["--port", "0"]) + arguments
        process.environment = Command.bareEnvironment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: folder.url.appending(path: "out"))
        process.standardError = try FileHandle(forWritingTo: folder.url.appending(path: "log"))
        try process.run()
        self.process = process
        while true {
            let announced = String(decoding: try folder.read("out"), as: UTF8.self)
            if let end = announced.firstRange(of: "://127.0.0.1:"), announced.contains("\n"),
                let port = Int(announced[end.upperBound...].prefix { $0.isNumber })
            {
                self.port = port
                return
            }
            guard process.isRunning else {
                throw DidNotStart(log: String(decoding: try folder.read("log"), as: UTF8.self))
            }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    deinit { if process.isRunning { process.terminate() } }

    /// The log so far.
    package var log: String {
        get throws { String(decoding: try folder.read("log"), as: UTF8.self) }
    }

    /// The port of the separate metrics address; nil if none is configured.
    package var metricsPort: Int? {
        get throws {
            let announced = String(decoding: try folder.read("out"), as: UTF8.self)
            return try /metrics are on http:\/\/127\.0\.0\.1:([0-9]+)\/metrics/.firstMatch(in: announced)
                .flatMap { Int($0.output.1) }
        }
    }

    package var isRunning: Bool { process.isRunning }

    /// The resident memory (VmRSS) of the process.
    package var residentKilobytes: Int {
        get throws {
            let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
            return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
        }
    }

    /// The number of open files and connections.
    package var descriptorCount: Int {
        get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(processIdentifier)/fd").count }
    }

    /// Writes `settings` to the environment file and sends SIGHUP.
    package func reload(_ settings: String...) throws {
        try folder.write(settings.map { $0 + "\n" }.joined().utf8, to: "env")
        kill(process.processIdentifier, SIGHUP)
    }

    /// Writes the configuration file, which the service reads at its next start or reload.
    package func configure(_ text: String) throws { try folder.write(text.utf8, to: "config.yaml") }

    /// The configuration file's path, for use in the environment file.
    package var configurationFile: String { folder.path + "/config.yaml" }

    /// Sends SIGKILL and waits for the process to exit.
    package func killAtOnce() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    package var processIdentifier: Int32 { process.processIdentifier }

    /// Sends SIGTERM.
    package func terminate() { process.terminate() }

    /// Sends SIGTERM and waits for the process to exit.
    /// - Returns: the exit status.
    package func stop() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
