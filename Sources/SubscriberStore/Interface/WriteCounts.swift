/// How many changes were committed, and in how many transactions. Each transaction is synced once.
package struct WriteCounts: Hashable, Sendable {
    package private(set) var changes = 0
    package private(set) var commits = 0
    /// How often the store has waited for a database on another machine, also to read. 0 for a file.
    package internal(set) var roundTrips = 0

    package init() {}

    mutating func add(changes count: Int) {
        changes += count
        commits += 1
    }
}
