import CPostgreSQL

/// A connection to a PostgreSQL server. Only one thread may use it at a time.
///
/// Statements are queued and sent, in one round trip, with the first statement whose result is needed. A failed
/// connection stays broken and must be replaced.
@safe package final class PostgreSQLConnection {
    private let connection: OpaquePointer
    /// A queued operation that was not sent yet.
    private enum Queued {
        case preparation(of: String)
        case execution
    }

    /// The names of prepared statements by SQL text.
    private var prepared: [String: String] = [:]
    /// The number of names assigned so far.
    private var names = 0
    private var queue: [Queued] = []
    /// The number of times that this connection waited for the server.
    package private(set) var roundTrips = 0
    private let timeout: Int32
    /// False after a timeout or a connection failure, when the outcome of the last statement is unknown, or once
    /// prepared statements are outdated.
    package private(set) var isUsable = true

    /// Connects to the first server in the URL that accepts changes. Blocks until the connection is open.
    /// - Parameter timeout: the time limit for a statement.
    package init(to server: PostgreSQLServer, timeout: Duration) throws(PostgreSQLError) {
        self.timeout = Int32(timeout / .milliseconds(1))
        guard let connection = unsafe Self.open(server) else {
            throw PostgreSQLError(state: nil, message: "no memory for a connection")
        }
        unsafe self.connection = connection
        guard unsafe offer_pg_is_connected(connection) else {
            // All properties are set, so `deinit` closes the connection.
            throw PostgreSQLError(state: nil, message: unsafe Self.line(offer_pg_error(connection)))
        }
    }

    deinit { unsafe offer_pg_close(connection) }

    private static func open(_ server: PostgreSQLServer) -> OpaquePointer? {
        let settings = server.settings
        return unsafe withCStrings(settings.map(\.name)) { names in
            unsafe withCStrings(settings.map(\.value)) { values in unsafe offer_pg_connect(names, values) }
        }
    }

    /// The process ID of the server process for this connection.
    package var backend: Int { unsafe Int(offer_pg_backend(connection)) }

    /// The server version, such as 150018 for 15.18.
    package var serverVersion: Int { unsafe Int(offer_pg_server_version(connection)) }

    /// Queues a statement whose result is discarded. If it fails, the next call that waits for the server throws its
    /// error.
    /// - Parameter sql: a statement that stays prepared, with parameters `$1`, `$2` and so on.
    package func send(_ sql: String, _ arguments: [PostgreSQLValue] = []) throws(PostgreSQLError) {
        try begin()
        let name: String
        if let known = prepared[sql] {
            name = known
        } else {
            names += 1
            // The server's log shows this name.
            name = "\(sql.prefix(while: \.isLetter).lowercased())\(names)"
            try require(unsafe offer_pg_queue_preparation(connection, name, sql))
            queue.append(.preparation(of: sql))
            prepared[sql] = name
        }
        try enqueue(name, arguments)
    }

    /// Executes the queue, and then a statement that stays prepared.
    package func execute(
        _ sql: String, _ arguments: [PostgreSQLValue] = []
    ) throws(PostgreSQLError) -> PostgreSQLResult {
        try send(sql, arguments)
        return try finishLast()
    }

    /// Executes several statements that stay prepared, in one round trip.
    /// - Returns: the result of each statement.
    package func execute(
        _ statements: [(sql: String, arguments: [PostgreSQLValue])]
    ) throws(PostgreSQLError) -> [PostgreSQLResult] {
        guard !statements.isEmpty else { return [] }
        for statement in statements { try send(statement.sql, statement.arguments) }
        return try finish().suffix(statements.count)
    }

    /// Executes a statement without parameters, prepared for one use.
    package func executeOnce(_ sql: String) throws(PostgreSQLError) -> PostgreSQLResult {
        try flush()
        try begin()
        try require(unsafe offer_pg_queue_preparation(connection, "", sql))
        queue.append(.preparation(of: ""))
        try enqueue("", [])
        return try finishLast()
    }

    /// Executes statements without parameters and discards their results.
    package func run(_ sql: String) throws(PostgreSQLError) {
        try flush()
        roundTrips += 1
        _ = try unsafe read(offer_pg_run(connection, sql, timeout))
    }

    /// Executes the queue.
    package func flush() throws(PostgreSQLError) {
        if !queue.isEmpty { _ = try finish() }
    }

    /// Executes the queue, ignoring failures, and rolls the transaction back.
    /// - Parameter savepoint: nil rolls back the whole transaction.
    package func rollBack(to savepoint: String? = nil) throws(PostgreSQLError) {
        do { try flush() } catch { guard isUsable else { throw error } }
        try run(savepoint.map { "ROLLBACK TO SAVEPOINT \($0)" } ?? "ROLLBACK")
    }

    private func begin() throws(PostgreSQLError) {
        if queue.isEmpty { try require(unsafe offer_pg_begin(connection)) }
    }

    private func enqueue(_ name: String, _ arguments: [PostgreSQLValue]) throws(PostgreSQLError) {
        let parameters = Parameters(arguments)
        let isQueued = unsafe parameters.withPointers { values, lengths, formats in
            unsafe offer_pg_queue(connection, name, Int32(arguments.count), values, lengths, formats)
        }
        try require(isQueued)
        queue.append(.execution)
    }

    /// Executes the queue and returns its last result.
    private func finishLast() throws(PostgreSQLError) -> PostgreSQLResult {
        guard let result = try finish().last else { throw PostgreSQLError(state: nil, message: "no result") }
        return result
    }

    /// Sends the queue and reads its results.
    /// - Returns: the results of the executed statements.
    /// - Throws: the first error. The server skips the statements after it.
    private func finish() throws(PostgreSQLError) -> [PostgreSQLResult] {
        defer { queue = [] }
        roundTrips += 1
        try require(unsafe offer_pg_send(connection, timeout))
        var results: [PostgreSQLResult] = []
        var failure: PostgreSQLError?
        for queued in queue {
            do throws(PostgreSQLError) {
                let result = try unsafe read(offer_pg_next(connection, timeout))
                if case .execution = queued { results.append(result) }
            } catch {
                if case .preparation(let sql) = queued { prepared[sql] = nil }
                let first = failure ?? error
                guard isUsable else { throw first }
                failure = first
            }
        }
        try require(unsafe offer_pg_end(connection, timeout))
        if let failure { throw failure }
        return results
    }

    private func require(_ works: Bool) throws(PostgreSQLError) {
        guard !works else { return }
        isUsable = false
        throw broken
    }

    private var broken: PostgreSQLError {
        let message = unsafe offer_pg_is_connected(connection) ? "" : Self.line(offer_pg_error(connection))
        return PostgreSQLError(state: nil, message: message.isEmpty ? "the server did not answer in time" : message)
    }

    private func read(_ result: OpaquePointer?) throws(PostgreSQLError) -> PostgreSQLResult {
        guard let result = unsafe result else {
            isUsable = false
            throw broken
        }
        defer { unsafe offer_pg_free(result) }
        guard unsafe offer_pg_succeeded(result) else {
            let error = unsafe Self.error(result)
            // A new connection prepares the statements again.
            if unsafe !offer_pg_is_connected(connection) || error.isOutdated { isUsable = false }
            throw error
        }
        return unsafe PostgreSQLResult(result)
    }

    /// Creates the error of a failed result. Only messages of the listed SQLSTATE classes are kept, because others may
    /// contain values.
    private static func error(_ result: OpaquePointer) -> PostgreSQLError {
        let state = unsafe offer_pg_state(result).map { unsafe String(cString: $0) }
        let isHarmless = ["08", "25", "28", "3D", "42", "53", "55", "57"].contains { state?.hasPrefix($0) ?? true }
        let message = unsafe offer_pg_message(result).map { unsafe line($0) }
        return PostgreSQLError(state: state, message: isHarmless ? message ?? "" : "SQLSTATE \(state ?? "unknown")")
    }

    /// Returns a message of libpq without line breaks.
    private static func line(_ message: UnsafePointer<CChar>) -> String {
        unsafe String(cString: message).split(whereSeparator: \.isNewline).joined(separator: "; ")
    }
}

/// Parameters in libpq's format: numbers and text as text, bytes as bytes.
private struct Parameters {
    private let bytes: [[UInt8]?]
    private let lengths: [Int32]
    private let formats: [Int32]

    init(_ values: [PostgreSQLValue]) {
        bytes = values.map { value in
            switch value {
            case .null: nil
            case .integer(let value): Array(String(value).utf8) + [0]
            case .text(let value): Array(value.utf8) + [0]
            case .bytes(let value): value + [0]
            }
        }
        lengths = bytes.map { Int32(max(0, ($0?.count ?? 1) - 1)) }
        formats = values.map { if case .bytes = $0 { 1 } else { 0 } }
    }

    func withPointers<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        unsafe withCStrings(bytes) { values in unsafe body(values, lengths, formats) }
    }
}

/// Passes `body` an array of pointers to NUL-terminated bytes. A nil element gives a nil pointer, and a nil pointer
/// ends the array.
private func withCStrings<Result>(
    _ strings: [[UInt8]?], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let all = strings.compactMap(\.self).joined() + [0]
    return unsafe all.withUnsafeBytes { buffer in
        let characters = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
        var offset = 0
        var pointers: [UnsafePointer<CChar>?] = unsafe []
        for string in strings {
            guard let string else {
                unsafe pointers.append(nil)
                continue
            }
            unsafe pointers.append(characters.map { unsafe $0 + offset })
            offset += string.count
        }
        unsafe pointers.append(nil)
        return unsafe pointers.withUnsafeBufferPointer { pointers in
            guard let base = pointers.baseAddress else { preconditionFailure("the array is not empty") }
            return unsafe body(base)
        }
    }
}

private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    unsafe withCStrings(strings.map { Array($0.utf8) + [0] }, body)
}
