import CPostgreSQL

/// A connection to a server, which one thread uses at a time.
///
/// A connection that has failed stays broken and is replaced by another one.
@safe package final class PostgreSQLConnection {
    private let connection: OpaquePointer
    /// The names of prepared statements by their text.
    private var prepared: [String: String] = [:]
    private let timeout: Int32
    /// False once the server did not answer, when the outcome of the last statement is unknown, or after ``retire()``.
    package private(set) var isUsable = true

    /// Connects to the first server in the URL that takes changes. Blocks while it does.
    /// - Parameter timeout: how long a statement may take.
    package init(to server: PostgreSQLServer, timeout: Duration) throws(PostgreSQLError) {
        self.timeout = Int32(timeout / .milliseconds(1))
        guard let connection = unsafe Self.open(server) else {
            throw PostgreSQLError(state: nil, message: "no memory for a connection")
        }
        unsafe self.connection = connection
        guard unsafe offer_pg_is_connected(connection) else {
            // The object is complete, so its end closes the connection.
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

    /// Makes the connection one that is replaced.
    package func retire() { isUsable = false }

    /// The number of the server process that serves this connection.
    package var backend: Int { unsafe Int(offer_pg_backend(connection)) }

    /// Such as 150018 for 15.18.
    package var serverVersion: Int { unsafe Int(offer_pg_server_version(connection)) }

    package var usesTLS: Bool { unsafe offer_pg_uses_tls(connection) }

    /// Executes a statement that stays prepared.
    /// - Parameter sql: with parameters `$1`, `$2` and so on.
    package func execute(_ sql: String, _ arguments: [PostgreSQLValue]) throws(PostgreSQLError) -> PostgreSQLResult {
        let name = try prepare(sql)
        let parameters = Parameters(arguments)
        let result = unsafe parameters.withPointers { values, lengths, formats in
            unsafe offer_pg_execute(connection, name, Int32(arguments.count), values, lengths, formats, timeout)
        }
        return try unsafe read(result)
    }

    /// Executes a statement without parameters that is prepared for this time only.
    package func executeOnce(_ sql: String) throws(PostgreSQLError) -> PostgreSQLResult {
        _ = try unsafe read(offer_pg_prepare(connection, "", sql, timeout))
        return try unsafe read(offer_pg_execute(connection, "", 0, nil, nil, nil, timeout))
    }

    /// Executes statements that return nothing and have no parameters.
    package func run(_ sql: String) throws(PostgreSQLError) {
        _ = try unsafe read(offer_pg_run(connection, sql, timeout))
    }

    private func prepare(_ sql: String) throws(PostgreSQLError) -> String {
        if let name = prepared[sql] { return name }
        let name = "s\(prepared.count + 1)"
        _ = try unsafe read(offer_pg_prepare(connection, name, sql, timeout))
        prepared[sql] = name
        return name
    }

    private func read(_ result: OpaquePointer?) throws(PostgreSQLError) -> PostgreSQLResult {
        guard let result = unsafe result else {
            isUsable = false
            let message = unsafe offer_pg_is_connected(connection) ? "" : Self.line(offer_pg_error(connection))
            throw PostgreSQLError(state: nil, message: message.isEmpty ? "the server did not answer in time" : message)
        }
        defer { unsafe offer_pg_free(result) }
        guard unsafe offer_pg_succeeded(result) else {
            if unsafe !offer_pg_is_connected(connection) { isUsable = false }
            throw unsafe Self.error(result)
        }
        return unsafe PostgreSQLResult(result)
    }

    /// Messages about connections and resources name no values of ours; others might.
    private static func error(_ result: OpaquePointer) -> PostgreSQLError {
        let state = unsafe offer_pg_state(result).map { unsafe String(cString: $0) }
        let isHarmless = ["08", "25", "28", "3D", "42", "53", "55", "57"].contains { state?.hasPrefix($0) ?? true }
        let message = unsafe offer_pg_message(result).map { unsafe line($0) }
        return PostgreSQLError(state: state, message: isHarmless ? message ?? "" : "SQLSTATE \(state ?? "unknown")")
    }

    /// The message of libpq without line breaks.
    private static func line(_ message: UnsafePointer<CChar>) -> String {
        unsafe String(cString: message).split(whereSeparator: \.isNewline).joined(separator: "; ")
    }
}

/// Parameters as libpq takes them: numbers and text as text, bytes as bytes.
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

/// Passes pointers to bytes that end with NUL, with nil for nil, and a nil after the last.
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
