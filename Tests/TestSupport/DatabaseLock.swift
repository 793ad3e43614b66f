import Foundation

/// Another process, `store-load lock`, that holds the lock of an SQLite database for writing.
package final class DatabaseLock: Sendable {
    private let process = Process()
    private let input = Pipe()

    /// Returns once the lock is held.
    package init(_ path: String) throws {
        process.executableURL = URL(filePath: Command.offerSigner).deletingLastPathComponent()
            .appending(path: "store-load")
        process.arguments = ["lock", path]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard output.fileHandleForReading.availableData == Data("locked\n".utf8) else {
            throw CocoaError(.fileLocking)
        }
    }

    package func release() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
