extension TransactionID {
    /// Returns true if this ID is the smaller number. IDs usually are numbers.
    package func precedes(_ other: TransactionID) -> Bool {
        guard text.utf8.count == other.text.utf8.count else { return text.utf8.count < other.text.utf8.count }
        return text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }
}
