package import Foundation

/// A program that runs beside the test, and what it has printed.
package final class RunningProgram: Sendable {
    package struct DidNotStart: Error {
        package let log: String
    }

    package let process = Process()
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - program: a path, or a name to look up in `PATH`.
    ///   - environment: as for ``Command/run(_:_:input:environment:directory:)``.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], directory: URL? = nil
    ) throws {
        folder = try TemporaryFolder()
        for name in ["out", "log"] { try folder.write([], to: name) }
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.environment = Command.bareEnvironment.merging(environment) { $1 }
        if let directory { process.currentDirectoryURL = directory }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: folder.url.appending(path: "out"))
        process.standardError = try FileHandle(forWritingTo: folder.url.appending(path: "log"))
        try process.run()
    }

    deinit { if process.isRunning { process.terminate() } }

    package var output: String { get throws { try folder.text("out") } }
    package var log: String { get throws { try folder.text("log") } }

    /// Waits until the output announces the port of the program.
    package func port(_ find: (_ output: String) throws -> Int?) throws -> Int {
        while true {
            if let port = try find(output) { return port }
            guard process.isRunning else { throw DidNotStart(log: try log) }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }
}
