/// The outcome of pruning the partitions of raw payloads.
package struct PartitionPruning: Hashable, Sendable {
    /// The number of partitions dropped.
    package var dropped = 0
    /// True if some work was postponed because a reader held the tables.
    package var isPutOff = false

    package init() {}
}
