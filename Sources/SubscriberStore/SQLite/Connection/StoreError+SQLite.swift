import GRDB
import OfferPostgreSQL

extension StoreError {
    /// - Parameter error: an error of an engine, or a ``StoreError``.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError: self.init(Self.kind(error.resultCode), Self.text(error))
        case let error as PostgreSQLError: self.init(error)
        case is CancellationError: self.init(.busy, "the caller was cancelled")
        default: self.init(.fault, "\(type(of: error))")
        }
    }

    private static func kind(_ code: ResultCode) -> Kind {
        switch code {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_INTERRUPT: .busy
        case .SQLITE_FULL: .diskFull
        case .SQLITE_READONLY: .readOnly
        case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_NOMEM, .SQLITE_PROTOCOL, .SQLITE_PERM, .SQLITE_AUTH: .unreachable
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
        default: .fault
        }
    }

    /// Returns SQLite's message, which may name tables and columns but never contains values.
    private static func text(_ error: DatabaseError) -> String {
        "SQLite \(error.extendedResultCode.rawValue): \(error.message ?? "no message")"
    }

    /// Creates the error for a stored value that this program would never have written.
    package static func unreadable(_ column: String) -> StoreError { StoreError(.unreadable, "unreadable \(column)") }
}
