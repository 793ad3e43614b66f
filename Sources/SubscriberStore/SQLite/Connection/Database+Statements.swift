import Foundation
import GRDB
import OfferCore

extension Database {
    /// Executes a statement that stays prepared.
    /// - Returns: the number of rows changed.
    @discardableResult func change(_ sql: String, _ arguments: StatementArguments) throws -> Int {
        try cachedStatement(sql: sql).execute(arguments: arguments)
        return changesCount
    }

    func rows(_ sql: String, _ arguments: StatementArguments) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    func row(_ sql: String, _ arguments: StatementArguments) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func number(_ sql: String, _ arguments: StatementArguments) throws -> Int64? {
        try Int64.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }
}

extension Row {
    func time(_ column: String) -> Timestamp? { (self[column] as Int64?).map(Timestamp.init(milliseconds:)) }

    func bytes(_ column: String) -> [UInt8] { [UInt8](self[column] as Data) }

    /// Reads a column that never has NULL.
    func requiredTime(_ column: String) -> Timestamp { Timestamp(milliseconds: self[column]) }

    func transactionID(_ column: String) throws -> TransactionID {
        do { return try TransactionID(utf8: Array((self[column] as String).utf8)) } catch {
            throw StoreError.unreadable(column)
        }
    }

    func text(_ column: String, maximumSize: Int) throws -> FieldText {
        do {
            return try FieldText(utf8: Array((self[column] as String).utf8), field: column, sizes: 1...maximumSize)
        } catch {
            throw StoreError.unreadable(column)
        }
    }
}

extension TransactionID {
    var string: String { text.description }
}
