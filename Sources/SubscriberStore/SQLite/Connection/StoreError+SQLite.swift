import OfferPostgreSQL
import OfferSQLite

extension StoreError {
    /// - Parameter error: an error of an engine, or a ``StoreError``.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as SQLiteError: self.init(Self.kind(error.cause), "SQLite \(error.code): \(error.message)")
        case let error as PostgreSQLError: self.init(error)
        case is CancellationError: self.init(.busy, "the caller was cancelled")
        default: self.init(.fault, "\(type(of: error))")
        }
    }

    private static func kind(_ cause: SQLiteError.Cause) -> Kind {
        switch cause {
        case .busy: .busy
        case .diskFull: .diskFull
        case .readOnly: .readOnly
        case .unreachable: .unreachable
        case .corrupt: .corrupt
        case .other: .fault
        }
    }

    /// Creates the error for a stored value that this program would never have written.
    package static func unreadable(_ column: String) -> StoreError { StoreError(.unreadable, "unreadable \(column)") }
}
