import OfferCore
import OfferEligibility
import OfferFiles

/// A file of comma-separated values with a line for each customer. One column names the customers.
struct CustomerList {
    let head: [String]
    private let path: String
    private let bytes: [UInt8]
    private let column: Int
    private let kind: CustomerIdentifier.Kind
    /// What holds if the list is wrong, such as `no link was made`.
    private let consequence: String

    /// The maximum size of a list, in bytes: more than a million customers.
    private static let maximumSize = 256 * 1024 * 1024

    /// The kinds that stay with a customer.
    private static let kinds: [CustomerIdentifier.Kind] = [
        .appAccountToken, .applicationUsername, .originalTransactionID, .appTransactionID,
    ]

    /// - Parameters:
    ///   - consequence: what holds if the list is wrong, such as `no link was made`.
    ///   - reserved: the columns that the list must not have.
    init(path: String, ifWrong consequence: String, reserved: [String] = []) throws {
        self.path = path
        self.consequence = consequence
        do { bytes = try RegularFile(path: path, maximumSize: Self.maximumSize).bytes } catch {
            throw CommandError(
                "\(path): \(error.reason(maximumSize: Self.maximumSize))", hint: "name a file of comma-separated values"
            )
        }
        let head: [String]
        do { head = try CSVReader(bytes).head } catch { throw Self.failure(error, path, consequence) }
        let columns = Self.kinds.compactMap { kind in head.firstIndex(of: kind.rawValue).map { (kind, $0) } }
        guard columns.count == 1, let (kind, column) = columns.first else {
            throw CommandError(
                columns.isEmpty
                    ? "no column of \(path) names the customers" : "several columns of \(path) name the customers",
                hint: "name one column \(Self.kinds.map(\.rawValue).joined(separator: " or "))")
        }
        if let name = reserved.first(where: head.contains) {
            throw CommandError("\(path) has a column \(name) already", hint: "rename it")
        }
        (self.head, self.kind, self.column) = (head, kind, column)
    }

    /// The name of the column that names the customers.
    var namingColumn: String { kind.rawValue }

    var hasUsernames: Bool { kind == .applicationUsername }

    func reader() throws -> CSVReader { try CSVReader(bytes) }

    /// Reads every line, so that a wrong one is found before anything is made.
    /// - Returns: the number of customers.
    func check() throws -> Int {
        var (reader, count) = (try reader(), 0)
        while try next(&reader) != nil { count += 1 }
        return count
    }

    func next(_ reader: inout CSVReader) throws -> (values: [String], customer: CustomerIdentifier)? {
        do {
            guard let values = try reader.next() else { return nil }
            return (values, try CustomerIdentifier(kind, utf8: Array(values[column].utf8), field: kind.rawValue))
        } catch let failure as CSVReader.Failure {
            throw Self.failure(failure, path, consequence)
        } catch let failure as FieldError {
            throw CommandError(
                "line \(reader.line) of \(path): \(failure)", hint: "correct or remove the line; \(consequence)")
        }
    }

    private static func failure(
        _ failure: CSVReader.Failure, _ path: String, _ consequence: String
    ) -> CommandError {
        CommandError(
            "line \(failure.line) of \(path): \(failure.text)", hint: "correct the line; \(consequence)")
    }
}
