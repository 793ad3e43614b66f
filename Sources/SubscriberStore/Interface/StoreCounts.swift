/// What a store has done: how many changes were committed, and in how many transactions. Each transaction is synced once.
package struct StoreCounts: Hashable, Sendable {
    package private(set) var changes = 0
    package private(set) var commits = 0
    /// How often a transaction was repeated because another one had disturbed it. 0 where only one writes.
    package private(set) var retries = 0
    /// How often the store has waited for a database on another machine, also to read. 0 for a file.
    package internal(set) var roundTrips = 0

    package init() {}

    mutating func add(changes count: Int) {
        changes += count
        commits += 1
    }

    mutating func addRetry() { retries += 1 }
}
