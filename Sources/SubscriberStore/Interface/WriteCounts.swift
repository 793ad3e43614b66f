/// How many changes were committed, and in how many transactions. Each transaction is synced once.
package struct WriteCounts: Hashable, Sendable {
    package private(set) var changes = 0
    package private(set) var commits = 0

    package init() {}

    mutating func add(changes count: Int) {
        changes += count
        commits += 1
    }
}
