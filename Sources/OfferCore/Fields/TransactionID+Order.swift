extension TransactionID {
    /// Orders IDs by the numbers that they usually are.
    package func precedes(_ other: TransactionID) -> Bool {
        guard text.utf8.count == other.text.utf8.count else { return text.utf8.count < other.text.utf8.count }
        return text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }
}
