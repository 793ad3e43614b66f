internal import CSQLite

/// A failure that SQLite reports.
package struct SQLiteError: Error {
    /// The group of result codes, by what a caller can do.
    package enum Cause {
        /// Another connection holds a lock. Trying again may succeed.
        case busy
        case diskFull
        case readOnly
        /// The files cannot be opened, read or written.
        case unreachable
        /// The file is damaged, or is no database.
        case corrupt
        /// A fault in the program.
        case other
    }

    /// SQLite's extended result code (sqlite.org/rescode.html).
    package let code: Int32
    package let message: String

    package init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    package var cause: Cause {
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT: .busy
        case SQLITE_FULL: .diskFull
        case SQLITE_READONLY: .readOnly
        case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_NOMEM, SQLITE_PROTOCOL, SQLITE_PERM, SQLITE_AUTH: .unreachable
        case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
        default: .other
        }
    }

    static let cannotOpen = SQLITE_CANTOPEN
    static let closed = SQLiteError(code: SQLITE_MISUSE, message: "the connection is closed")
}
