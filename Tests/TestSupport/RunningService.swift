import Foundation
package import OfferCrypto

/// An `offer-signer serve` process on a free port of 127.0.0.1, with a disposable key.
///
/// The environment file selects the signing key, so a test can change the key with a reload.
package final class RunningService: Sendable {
    package static let keyID = "TESTKEY123"
    package static let keyFile = "SubscriptionKey_\(keyID).p8"

    /// Makes a key folder with a new key, for services that share it.
    package static func makeKeys() throws -> TemporaryFolder {
        let keys = try TemporaryFolder()
        try keys.write(PrivateKeyPEM.generate(), to: keyFile)
        return keys
    }

    package let port: Int
    package let verifyingKey: VerifyingKey
    /// The key folder.
    package let keys: TemporaryFolder
    private let running: RunningProgram
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
        self.keys = try keys ?? Self.makeKeys()
        verifyingKey = try SigningKey(text: self.keys.read(Self.keyFile)).verifyingKey
        try folder.write("SUBSCRIPTION_OFFERS_KEY_ID=\(Self.keyID)\n".utf8, to: "env")
        try prepare(self.keys)
        let limit = descriptors.map { "ulimit -n \($0) && " } ?? ""
        running = try RunningProgram(
            "/bin/sh",
            ["-c", limit + "exec \"$0\" \"$@\"", program, "serve"]
                + ["--keys-dir", self.keys.path, "--env-file", folder.path + "/env"]
                + (arguments.contains("--port") ? [] : ["--port", "0"]) + arguments, environment: environment)
        port = try running.port { announced in
            guard let end = announced.firstRange(of: "://127.0.0.1:"), announced.contains("\n") else { return nil }
            return Int(announced[end.upperBound...].prefix { $0.isNumber })
        }
    }

    /// The standard output so far.
    package var output: String { get throws { try running.output } }

    /// The log so far.
    package var log: String { get throws { try running.log } }

    /// The port of the separate metrics address; nil if none is configured.
    package var metricsPort: Int? {
        get throws {
            try /metrics are on http:\/\/127\.0\.0\.1:([0-9]+)\/metrics/.firstMatch(in: running.output)
                .flatMap { Int($0.output.1) }
        }
    }

    /// The port of the console; nil if there is none, or its address has not been printed yet.
    package var consolePort: Int? {
        get throws {
            try /the console is on http:\/\/127\.0\.0\.1:([0-9]+)/.firstMatch(in: running.output)
                .flatMap { Int($0.output.1) }
        }
    }

    private var process: Process { running.process }

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

    // MARK: Requests

    /// Gets a page over a connection of its own.
    /// - Parameters:
    ///   - headers: additional header lines, each ending in CRLF.
    ///   - port: the port of the metrics address; nil for that of offers.
    package func get(_ target: String, headers: String = "", port: Int? = nil) async throws -> ReceivedResponse {
        try await exchange(port: port) { try await $0.get(target, headers: headers) }
    }

    /// Sends `POST` with a JSON body over a connection of its own.
    /// - Parameter headers: additional header lines, each ending in CRLF.
    package func post(_ path: String, _ json: String, headers: String = "") async throws -> ReceivedResponse {
        try await exchange(port: nil) { try await $0.post(path, json: json, headers: headers) }
    }

    /// The body of `/health/ready`. A metrics address, if there is one, shows the problems to everyone.
    package var health: String { get async throws { try await get("/health/ready", port: metricsPort).text } }

    /// A connection closed without a response.
    package struct NoResponse: Error {}

    private func exchange(
        port: Int?, _ body: (inout Connection) async throws -> ReceivedResponse?
    ) async throws -> ReceivedResponse {
        guard let response = try await Connection.open(port: port ?? self.port, body) else { throw NoResponse() }
        return response
    }

    // MARK: Signals

    /// Writes `settings` to the environment file and sends SIGHUP.
    /// - Parameter keyID: the signing key; nil to name none.
    package func reload(keyID: String? = RunningService.keyID, _ settings: String...) throws {
        let lines = (keyID.map { ["SUBSCRIPTION_OFFERS_KEY_ID=\($0)"] } ?? []) + settings
        try folder.write(lines.map { $0 + "\n" }.joined().utf8, to: "env")
        kill(process.processIdentifier, SIGHUP)
    }

    /// Writes the configuration file, which the service reads at its next start or reload.
    package func configure(_ text: String) throws { try folder.write(text.utf8, to: "config.yaml") }

    /// The line of the environment file that names the configuration file.
    package var configurationSetting: String { "SUBSCRIPTION_OFFERS_CONFIG=\(folder.path)/config.yaml" }

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
