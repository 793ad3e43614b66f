internal import CSQLite

/// A connection to a SQLite database.
///
/// It can be sent between threads, but has no lock: its owner lets only one thread at a time use it.
@safe package final class SQLiteConnection: @unchecked Sendable {
    package enum Access {
        /// Creates the file if it is missing.
        case readWrite
        case readOnly
        /// Takes no lock and makes no file. No other process may change the database meanwhile.
        case immutable
    }

    private var handle: OpaquePointer?
    /// Prepared statements by their text, which is one of a few hundred constants.
    private var statements: [String: SQLiteStatement] = [:]
    private var trace: Trace?
    private let lockTimeout: Int32

    /// Configures SQLite before its first use in this process.
    private static let isConfigured = offer_sqlite_keep_no_statistics() == SQLITE_OK

    /// - Parameters:
    ///   - path: a path; for ``Access/immutable``, a file URI (sqlite.org/uri.html).
    ///   - lockTimeout: how long a statement waits for a lock, in milliseconds.
    package init(path: String, _ access: Access = .readWrite, lockTimeout: Int32 = 0) throws(SQLiteError) {
        _ = Self.isConfigured
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        switch access {
        case .readWrite: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .readOnly: flags |= SQLITE_OPEN_READONLY
        case .immutable: flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        }
        var handle: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &handle, flags, nil)
        guard let handle = unsafe handle, code == SQLITE_OK else {
            let error = unsafe Self.error(code, handle)
            unsafe sqlite3_close_v2(handle)
            throw error
        }
        unsafe self.handle = handle
        self.lockTimeout = lockTimeout
        unsafe sqlite3_busy_timeout(handle, lockTimeout)
    }

    deinit { close() }

    /// Closes the connection. If it is the last of a database, SQLite moves the log into the database.
    package func close() {
        statements = [:]
        unsafe sqlite3_close_v2(handle)
        unsafe handle = nil
    }

    private var open: OpaquePointer {
        get throws(SQLiteError) {
            guard let handle = unsafe handle else { throw .closed }
            return unsafe handle
        }
    }

    // MARK: Statements

    /// Returns a statement that stays prepared. Use it for constants only.
    package func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
        if let statement = statements[sql] { return statement }
        let statement = try prepare(sql, UInt32(SQLITE_PREPARE_PERSISTENT))
        statements[sql] = statement
        return statement
    }

    /// Returns a statement for one use.
    package func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement { try prepare(sql, 0) }

    private func prepare(_ sql: String, _ flags: UInt32) throws(SQLiteError) -> SQLiteStatement {
        let connection = try unsafe open
        var statement: OpaquePointer?
        var isWhole = true
        let code = unsafe sql.withCString { text in
            var rest: UnsafePointer<CChar>?
            defer { isWhole = unsafe rest?.pointee == 0 }
            return unsafe sqlite3_prepare_v3(connection, text, -1, flags, &statement, &rest)
        }
        guard let statement = unsafe statement, code == SQLITE_OK else { throw unsafe Self.error(code, connection) }
        let prepared = unsafe SQLiteStatement(statement, of: connection)
        // SQLite would ignore what follows.
        guard isWhole else { throw SQLiteError(code: SQLITE_MISUSE, message: "more than one statement: \(sql)") }
        return prepared
    }

    /// Executes statements without parameters, which are separated by semicolons, and ignores their rows.
    package func execute(_ sql: String) throws(SQLiteError) {
        let connection = try unsafe open
        let code = unsafe sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw unsafe Self.error(code, connection) }
    }

    /// The integers in the first column of each row.
    package func integers(_ sql: String) throws(SQLiteError) -> [Int64] {
        let statement = try prepare(sql)
        var values: [Int64] = []
        while try statement.step() { values.append(statement.integer(at: 0)) }
        return values
    }

    /// The values in the first column of each row, as text.
    package func texts(_ sql: String) throws(SQLiteError) -> [String] {
        let statement = try prepare(sql)
        var values: [String] = []
        while try statement.step() { values.append(statement.text(at: 0)) }
        return values
    }

    /// The number of rows that the last `INSERT`, `UPDATE` or `DELETE` changed.
    package var changes: Int { unsafe Int(sqlite3_changes64(handle)) }

    package var lastInsertedRowID: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    package func hasTable(_ name: String) throws(SQLiteError) -> Bool {
        let statement = try prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
        try statement.bind(name, at: 1)
        return try statement.step()
    }

    // MARK: Transactions

    package enum Transaction: String {
        /// Begins with the first read, which it then repeats.
        case deferred = "BEGIN DEFERRED"
        /// Begins at once, with the lock of the writer.
        case immediate = "BEGIN IMMEDIATE"
    }

    /// False as well after an error that ended the transaction, for example a full disk.
    package var isInTransaction: Bool { unsafe handle != nil && sqlite3_get_autocommit(handle) == 0 }

    /// Commits if `body` returns, and rolls back if it throws.
    package func transaction<Result>(_ kind: Transaction, _ body: () throws -> Result) throws -> Result {
        // Without memory to prepare its end, no transaction begins.
        let (commit, rollback) = (try statement("COMMIT"), try statement("ROLLBACK"))
        try statement(kind.rawValue).run()
        do {
            let result = try body()
            try commit.run()
            return result
        } catch {
            if isInTransaction { try? rollback.run() }
            throw error
        }
    }

    /// Keeps the changes of `body` if it returns, and undoes them if it throws.
    package func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        try statement("SAVEPOINT change").run()
        do {
            let result = try body()
            try statement("RELEASE change").run()
            return result
        } catch {
            if isInTransaction {
                do {
                    try statement("ROLLBACK TO change").run()
                    try statement("RELEASE change").run()
                } catch {
                    // Nothing of a change that cannot be undone may be committed with others.
                    try? execute("ROLLBACK")
                }
            }
            throw error
        }
    }

    // MARK: Copies and the log

    /// Moves the log into the database and truncates the log.
    /// - Parameter wait: how long to wait for readers, in milliseconds. Meanwhile, no other connection can write.
    package func truncateLog(waitingForReaders wait: Int32) throws(SQLiteError) {
        let connection = try unsafe open
        unsafe sqlite3_busy_timeout(connection, wait)
        defer { unsafe sqlite3_busy_timeout(connection, lockTimeout) }
        let code = unsafe sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else { throw unsafe Self.error(code, connection) }
    }

    /// Copies the whole database.
    /// - Parameter progress: takes the fraction that is copied, after each step.
    package func copy(
        to target: SQLiteConnection, pagesPerStep: Int32, _ progress: (Double) -> Void
    ) throws(SQLiteError) {
        let destination = try unsafe target.open
        guard let backup = try unsafe sqlite3_backup_init(destination, "main", open, "main") else {
            throw unsafe Self.error(sqlite3_extended_errcode(destination), destination)
        }
        var code = SQLITE_OK
        while code == SQLITE_OK {
            code = unsafe sqlite3_backup_step(backup, pagesPerStep)
            let (rest, total) = unsafe (sqlite3_backup_remaining(backup), sqlite3_backup_pagecount(backup))
            progress(Double(total - rest) / Double(max(1, total)))
        }
        unsafe sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else { throw unsafe Self.error(code, destination) }
    }

    // MARK: Functions

    /// Calls `trace` with the text of each statement that begins, except for those of triggers.
    package func traceStatements(_ trace: @escaping @Sendable (String) -> Void) {
        let object = Trace(trace)
        self.trace = object
        unsafe sqlite3_trace_v2(
            handle, UInt32(SQLITE_TRACE_STMT),
            { _, context, _, text in
                guard let context = unsafe context, let text = unsafe text else { return 0 }
                let sql = unsafe String(cString: text.assumingMemoryBound(to: CChar.self))
                if !sql.hasPrefix("--") {
                    unsafe Unmanaged<Trace>.fromOpaque(context).takeUnretainedValue().report(sql)
                }
                return 0
            }, Unmanaged.passUnretained(object).toOpaque())
    }

    private final class Trace {
        let report: @Sendable (String) -> Void

        init(_ report: @escaping @Sendable (String) -> Void) {
            self.report = report
        }
    }

    /// Adds an SQL function of one argument, which SQLite passes as text.
    /// - Parameter function: returns bytes, or nil for NULL. It has no other effect.
    package func addFunction(_ name: String, _ function: @escaping ([UInt8]) -> [UInt8]?) throws(SQLiteError) {
        let connection = try unsafe open
        let context = unsafe Unmanaged.passRetained(Function(function)).toOpaque()
        let code = unsafe sqlite3_create_function_v2(
            connection, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, context,
            { context, _, arguments in
                guard let function = unsafe sqlite3_user_data(context), let argument = unsafe arguments?[0],
                    let text = unsafe sqlite3_value_text(argument)
                else { return unsafe sqlite3_result_null(context) }
                let input = unsafe Array(
                    UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(argument))))
                let call = unsafe Unmanaged<Function>.fromOpaque(function).takeUnretainedValue().call
                guard let output = call(input) else { return unsafe sqlite3_result_null(context) }
                unsafe output.withUnsafeBytes { output in
                    unsafe offer_sqlite_return_bytes(context, output.baseAddress, Int32(output.count))
                }
            }, nil, nil,
            { context in
                if let context = unsafe context { unsafe Unmanaged<Function>.fromOpaque(context).release() }
            })
        guard code == SQLITE_OK else { throw unsafe Self.error(code, connection) }
    }

    private final class Function {
        let call: ([UInt8]) -> [UInt8]?

        init(_ call: @escaping ([UInt8]) -> [UInt8]?) {
            self.call = call
        }
    }

    // MARK: Errors

    static func error(_ code: Int32, _ connection: OpaquePointer?) -> SQLiteError {
        let text = unsafe connection.flatMap { unsafe sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        return SQLiteError(code: code, message: unsafe text.map { unsafe String(cString: $0) } ?? "")
    }
}
