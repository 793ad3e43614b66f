import OfferCore

/// Questions about the rows of identifiers in a table with the columns `app`, `kind` and `identifier`, several in each: a statement
/// costs more than the few rows that it finds.
struct IdentifierQuestions {
    /// The statements about one identifier, two, and so on. A customer with one subscription has three.
    private let statements: [String]

    private static let maximumSize = 4

    init(table: String) {
        statements = (1...Self.maximumSize).map { size in
            (0..<size).map { place in
                "SELECT * FROM \(table) WHERE app = ?1 AND kind = ?\(2 * place + 2) AND identifier = ?\(2 * place + 3)"
            }.joined(separator: " UNION ALL ")
        }
    }

    /// - Returns: as many questions as it takes. Their rows are in no order.
    func questions(about identifiers: some Collection<CustomerIdentifier>, _ app: Int64) -> [Question] {
        var questions: [Question] = []
        var arguments: [(any ColumnValue)?] = [app]
        var size = 0
        func ask() {
            questions.append(Question(statements[size - 1], arguments))
            (arguments, size) = ([app], 0)
        }
        for identifier in identifiers {
            let stored = StoredIdentifier(identifier)
            arguments.append(stored.kind)
            arguments.append(stored.value)
            size += 1
            if size == Self.maximumSize { ask() }
        }
        if size > 0 { ask() }
        return questions
    }
}
