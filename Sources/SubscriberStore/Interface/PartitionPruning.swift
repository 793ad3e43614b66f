/// What became of the partitions of raw payloads.
package struct PartitionPruning: Hashable, Sendable {
    /// The number of partitions deleted.
    package var dropped = 0
    /// Whether something is left for later, because a reader of the tables was in the way.
    package var isPutOff = false

    package init() {}
}
