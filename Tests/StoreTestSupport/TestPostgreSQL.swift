import Foundation
import NIOConcurrencyHelpers
import OfferPostgreSQL
import SubscriberStore

/// A PostgreSQL server of the test's own: `scripts/postgresql`. It ends with this process, however that ends.
package final class TestPostgreSQL: Sendable {
    /// For all tests of a process that need nothing but a database.
    package static let shared = Result { try TestPostgreSQL() }

    private let process = Process()
    /// The server runs until this is closed.
    private let input = Pipe()
    private let output = Pipe()
    /// Without a database.
    private let base: (prefix: String, suffix: String)
    private let count = NIOLockedValueBox(0)

    /// - Parameters:
    ///   - options: of the script.
    ///   - prefix: a command that runs the script, such as one that enters a network namespace.
    package init(_ options: [String] = ["--fast"], through prefix: [String] = []) throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../scripts/postgresql")
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = prefix + [script.standardizedFileURL.path] + options
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let parts = try Self.line(from: output).components(separatedBy: "/postgres?")
        guard parts.count == 2 else { throw StoreError(.unreachable, "scripts/postgresql did not start a server") }
        base = (parts[0] + "/", "?" + parts[1])
    }

    /// Stops the server as an operator would, or as a crash would, and starts it again. Databases stay.
    package func stop() throws { try send("stop") }
    package func crash() throws { try send("crash") }
    package func start() throws { try send("start") }

    private func send(_ command: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        guard try Self.line(from: output) == "ok" else {
            throw StoreError(.unreachable, "scripts/postgresql has ended")
        }
    }

    private static func line(from pipe: Pipe) throws -> String {
        var line = Data()
        while line.last != UInt8(ascii: "\n"), let next = try pipe.fileHandleForReading.read(upToCount: 1),
            !next.isEmpty
        {
            line += next
        }
        return String(decoding: line.dropLast(), as: UTF8.self)
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The process of the script.
    package var processIdentifier: Int32 { process.processIdentifier }

    /// The URL of a database.
    package func url(of database: String) -> String { base.prefix + database + base.suffix }

    /// Creates a database and returns its URL.
    package func makeDatabase() throws -> String {
        let name = count.withLockedValue { count in
            count += 1
            return "test\(count)"
        }
        try execute("CREATE DATABASE \(name)", in: "postgres")
        return url(of: name)
    }

    /// Executes statements as the server's superuser.
    package func execute(_ sql: String, in database: String) throws {
        let server = try PostgreSQLServer(url: url(of: database))
        try PostgreSQLConnection(to: server, timeout: .seconds(60)).run(sql)
    }
}
