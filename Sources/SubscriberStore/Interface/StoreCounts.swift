/// The numbers of committed changes and transactions. Each transaction is synced once.
package struct StoreCounts: Hashable, Sendable {
    package private(set) var changes = 0
    package private(set) var commits = 0
    /// The number of retries after a conflict between transactions. 0 for an engine with a single writer.
    package private(set) var retries = 0
    /// The number of waits for a database on another machine, including reads. 0 for a file.
    package internal(set) var roundTrips = 0

    package init() {}

    mutating func add(changes count: Int) {
        changes += count
        commits += 1
    }

    mutating func addRetry() { retries += 1 }
}
