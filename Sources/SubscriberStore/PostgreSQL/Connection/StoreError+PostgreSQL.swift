import OfferPostgreSQL

extension StoreError {
    init(_ error: PostgreSQLError) {
        self.init(Self.kind(error.state), error.state.map { "PostgreSQL \($0): \(error.message)" } ?? error.message)
    }

    /// - Parameter state: the SQLSTATE; nil if the server sent no error.
    private static func kind(_ state: String?) -> Kind {
        guard let state else { return .unreachable }
        switch state {
        case "53100": return .diskFull
        case "25006": return .readOnly
        // Too many connections, a lock not available in time, a timeout, and conflicts that retries did not resolve.
        case "53300", "55P03", "57014", "40001", "40P01": return .busy
        case "XX001", "XX002": return .corrupt
        default: break
        }
        // Failures of the connection, the authorisation, resources or the system, a missing database, and an operator's
        // intervention.
        return ["08", "28", "3D", "53", "57", "58"].contains { state.hasPrefix($0) } ? .unreachable : .fault
    }
}

extension PostgreSQLError {
    /// True if the transaction failed because of another transaction and may succeed when repeated: a serialisation
    /// failure, a deadlock, or a row that another transaction added or removed in the meantime.
    var isConflict: Bool { ["40001", "40P01", "23503", "23505"].contains(state) }
}
