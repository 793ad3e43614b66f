import OfferCore

/// `verifyReceipt` writes almost every value as a string.
extension AnswerReader {
    func string(_ name: String) throws(AnswerError) -> String? {
        try optionalText(name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads a whole number, or a string that contains one.
    func looseInteger(_ name: String) throws(AnswerError) -> Int64? {
        guard isText(name) else { return try optionalInteger(name) }
        guard let text = try string(name) else { return nil }
        guard let number = Int64(text) else { throw wrongType(name, "a whole number") }
        return number
    }

    /// Reads a flag: `true` or `"true"`, `1` or `"1"`, and the opposite values.
    func flag(_ name: String) throws(AnswerError) -> Bool? {
        if isBool(name) { return try bool(name) }
        guard isText(name) else { return try optionalInteger(name).map { $0 == 1 } }
        switch try string(name) {
        case "true", "1": return true
        case "false", "0": return false
        default: throw wrongType(name, "true or false")
        }
    }

    /// Reads a date from its member in milliseconds. Two other members contain the same date in other formats.
    func date(_ name: String) throws(AnswerError) -> Timestamp? {
        try looseInteger(name + "_ms").map(Timestamp.init)
    }

    func transactionID(_ name: String) throws(AnswerError) -> TransactionID? {
        guard let text = isText(name) ? try optionalText(name) : try optionalInteger(name).map({ Array("\($0)".utf8) })
        else { return nil }
        do { return try TransactionID(utf8: text) } catch { throw wrongType(name, "a transaction ID") }
    }

    func productID(_ name: String) throws(AnswerError) -> ProductID? {
        guard let text = try optionalText(name) else { return nil }
        do { return try ProductID(utf8: text) } catch { throw wrongType(name, "a product ID") }
    }
}
