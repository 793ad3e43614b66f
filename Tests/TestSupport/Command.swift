package import Foundation

/// Runs programs and captures their exit status and both output streams.
package struct Command: Sendable {
    package struct Outcome: Sendable {
        package let status: Int32
        package let standardOutput: String
        package let standardError: String
    }

    /// The path of the `offer-signer` that was built with the tests, or of that in the folder `TEST_PROGRAMS`, as for
    /// `scripts/soak`.
    package static let offerSigner: String = {
        if let folder = ProcessInfo.processInfo.environment["TEST_PROGRAMS"] { return folder + "/offer-signer" }
        let bundle = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appending(path: "offer-signer").path
    }()

    /// Runs a program and waits for it to exit.
    ///
    /// This blocks the calling thread, and tests have one thread per core. A suite that calls it often must be
    /// `.serialized`, or the connections of other tests stall until the service closes them as idle.
    /// - Parameters:
    ///   - program: a path, or a name to look up in `PATH`.
    ///   - environment: variables added to the inherited environment, which loses its `SUBSCRIPTION_OFFERS_` variables.
    package static func run(
        _ program: String, _ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:],
        directory: URL? = nil
    ) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.environment = bareEnvironment.merging(environment) { $1 }
        if let directory { process.currentDirectoryURL = directory }
        // Files, not pipes: a full pipe could block both sides.
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

    /// Runs `offer-signer` and waits for it to exit.
    package static func runOfferSigner(
        _ arguments: [String], input: String = "", environment: [String: String] = [:], directory: URL? = nil
    ) throws -> Outcome {
        try run(offerSigner, arguments, input: Array(input.utf8), environment: environment, directory: directory)
    }

    package struct DoesNotCompile: Error {
        package let message: String
    }

    /// Compiles a C file of `CommandTests`, by default to a library for `LD_PRELOAD`.
    /// - Parameter name: the file's name up to `.c.txt`.
    package static func compile(
        _ name: String, to path: String, options: [String] = ["-shared", "-fPIC"]
    ) throws {
        let source = MarkdownBlock.repository.appending(path: "Tests/CommandTests/\(name).c.txt")
        let outcome = try run("clang", options + ["-x", "c", "-o", path, source.path])
        guard outcome.status == 0 else { throw DoesNotCompile(message: outcome.standardError) }
    }

    static var bareEnvironment: [String: String] {
        ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SUBSCRIPTION_OFFERS_") }
    }
}
