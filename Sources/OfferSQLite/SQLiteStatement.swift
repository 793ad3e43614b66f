internal import CSQLite

/// A prepared statement. Bind its parameters, step through its rows, and reset it before it is used again.
///
/// Parameters count from 1, as in SQLite, and columns from 0. An unbound parameter is NULL.
@safe package final class SQLiteStatement {
    /// The type in which SQLite stores a value.
    package enum ValueType {
        case null
        case integer
        case real
        case text
        case bytes
    }

    /// The names of the columns, which are those of the last row. Another process may add a column to a table that the
    /// statement reads with `*`.
    package private(set) var columnNames: [String] = []
    /// The number of parameters, or the largest number in a parameter such as `?2`.
    package let parameterCount: Int
    private let handle: OpaquePointer
    private let connection: OpaquePointer

    init(_ handle: OpaquePointer, of connection: OpaquePointer) {
        unsafe self.handle = handle
        unsafe self.connection = connection
        parameterCount = unsafe Int(sqlite3_bind_parameter_count(handle))
        columnNames = readColumnNames()
    }

    deinit { unsafe sqlite3_finalize(handle) }

    private func readColumnNames() -> [String] {
        let count = unsafe sqlite3_column_count(handle)
        return (0..<count).map { place in
            unsafe sqlite3_column_name(handle, place).map { unsafe String(cString: $0) } ?? ""
        }
    }

    // MARK: Parameters

    package func bind(_ number: Int64, at place: Int32) throws(SQLiteError) {
        try require(unsafe sqlite3_bind_int64(handle, place, number))
    }

    package func bind(_ text: String, at place: Int32) throws(SQLiteError) {
        var text = text
        let code = text.withUTF8 { utf8 in
            unsafe offer_sqlite_bind_text(handle, place, utf8.baseAddress, Int32(utf8.count))
        }
        try require(code)
    }

    package func bind(_ bytes: [UInt8], at place: Int32) throws(SQLiteError) {
        let code = unsafe bytes.withUnsafeBytes { bytes in
            unsafe offer_sqlite_bind_bytes(handle, place, bytes.baseAddress, Int32(bytes.count))
        }
        try require(code)
    }

    package func bindNull(at place: Int32) throws(SQLiteError) { try require(unsafe sqlite3_bind_null(handle, place)) }

    // MARK: Rows

    /// Moves to the next row.
    /// - Returns: false after the last row.
    package func step() throws(SQLiteError) -> Bool {
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW:
            if unsafe Int(sqlite3_column_count(handle)) != columnNames.count { columnNames = readColumnNames() }
            return true
        case SQLITE_DONE: return false
        case let code: throw error(code)
        }
    }

    /// Executes the statement and resets it.
    package func run() throws(SQLiteError) {
        defer { reset() }
        while try step() {}
    }

    /// Ends the execution and forgets the values of the parameters.
    package func reset() {
        // It repeats the error of the last step, which has been thrown.
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    package func type(at column: Int32) -> ValueType {
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .bytes
        default: .null
        }
    }

    package func integer(at column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    package func text(at column: Int32) -> String {
        guard let text = unsafe sqlite3_column_text(handle, column) else { return "" }
        let size = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: text, count: size), as: UTF8.self)
    }

    package func bytes(at column: Int32) -> [UInt8] {
        guard let bytes = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let size = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: size))
    }

    // MARK: Errors

    private func require(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw error(code) }
    }

    private func error(_ code: Int32) -> SQLiteError { unsafe SQLiteConnection.error(code, connection) }
}
