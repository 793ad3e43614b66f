import OfferCore
import OfferEligibility

/// Queries for the rows of identifiers. Each query covers several identifiers, because a statement costs more than the
/// few rows that it finds.
struct IdentifierQueries {
    /// The statements for one identifier, for two, and so on. A customer with one subscription has three identifiers.
    private let statements: [String]

    private static let maximumSize = 4

    /// - Parameter statement: returns the statement for one identifier. Its parameter for the app is `?1`; the
    ///   parameters for the kind and the value are passed to it.
    init(_ statement: (_ kind: String, _ value: String) -> String) {
        statements = (1...Self.maximumSize).map { size in
            (0..<size).map { place in statement("?\(2 * place + 2)", "?\(2 * place + 3)") }
                .joined(separator: " UNION ALL ")
        }
    }

    /// Creates queries for the rows of a table with the columns `app`, `kind` and `identifier`.
    init(table: String) {
        self.init { "SELECT * FROM \(table) WHERE app = ?1 AND kind = \($0) AND identifier = \($1)" }
    }

    /// Deletes the rows of an identifier from a table with the columns `app`, `kind` and `identifier`.
    static func deleteRows(
        of identifier: CustomerIdentifier, in table: String, _ app: Int64, _ db: any Database
    ) throws {
        let stored = StoredIdentifier(identifier)
        try db.send(
            "DELETE FROM \(table) WHERE app = ? AND kind = ? AND identifier = ?", [app, stored.kind, stored.value])
    }

    func queries(about identifiers: some Collection<CustomerIdentifier>, _ app: Int64) -> [Query] {
        queries(about: identifiers.map(StoredIdentifier.init), app)
    }

    /// - Returns: as many queries as needed. Their rows are in no particular order.
    func queries(about identifiers: [StoredIdentifier], _ app: Int64) -> [Query] {
        var queries: [Query] = []
        var arguments: [(any ColumnValue)?] = [app]
        var size = 0
        func ask() {
            queries.append(Query(statements[size - 1], arguments))
            (arguments, size) = ([app], 0)
        }
        for stored in identifiers {
            arguments.append(stored.kind)
            arguments.append(stored.value)
            size += 1
            if size == Self.maximumSize { ask() }
        }
        if size > 0 { ask() }
        return queries
    }
}
