/// The numbers of committed changes and transactions. Each transaction causes one sync.
package struct StoreCounts: Hashable, Sendable {
    package private(set) var changes = 0
    package private(set) var commits = 0
    /// The number of retries after a conflict between transactions. It is 0 for an engine with a single writer.
    package private(set) var retries = 0
    /// The number of round trips to a database server, including those for reads. It is 0 for a database file.
    package internal(set) var roundTrips = 0

    package init() {}

    mutating func add(changes count: Int) {
        changes += count
        commits += 1
    }

    mutating func addRetry() { retries += 1 }
}
