package import Foundation

/// Runs programs as a person would: arguments in, exit status and both streams out.
package struct Command: Sendable {
    package struct Outcome: Sendable {
        package let status: Int32
        package let standardOutput: String
        package let standardError: String
    }

    /// The `offer-signer` that was built together with the tests.
    package static let offerSigner: String = {
        let bundle = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appending(path: "offer-signer").path
    }()

    /// Blocks its thread, of which tests have as many as there are cores: a suite that does this often has to be
    /// `.serialized`, or connections of others wait for so long that the service takes them for idle.
    /// - Parameters:
    ///   - program: a path, or a name to look for in `PATH`.
    ///   - environment: added to a bare environment without any of our variables.
    package static func run(
        _ program: String, _ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:],
        directory: URL? = nil
    ) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.environment = bareEnvironment.merging(environment) { $1 }
        if let directory { process.currentDirectoryURL = directory }
        // Files, not pipes: neither side can fill one up and wait for the other.
        let folder = try TemporaryFolder()
        try Data(input).write(to: folder.url.appending(path: "in"))
        for name in ["out", "err"] { try Data().write(to: folder.url.appending(path: name)) }
        process.standardInput = try FileHandle(forReadingFrom: folder.url.appending(path: "in"))
        process.standardOutput = try FileHandle(forWritingTo: folder.url.appending(path: "out"))
        process.standardError = try FileHandle(forWritingTo: folder.url.appending(path: "err"))
        try process.run()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus,
            standardOutput: try String(contentsOf: folder.url.appending(path: "out"), encoding: .utf8),
            standardError: try String(contentsOf: folder.url.appending(path: "err"), encoding: .utf8))
    }

    static var bareEnvironment: [String: String] {
        ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SUBSCRIPTION_OFFERS_") }
    }
}
