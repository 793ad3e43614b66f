package import OfferCore

extension PostgreSQLStore {
    package func prunePartitions(
        receivedBefore limit: Timestamp, span: Duration, at now: Timestamp
    ) async throws(StoreError) -> PartitionPruning? {
        let newestSince = now - span
        let plan = try await read { db in
            let partitions = try PayloadPartitions(db)
            return (
                next: try partitions.next(lastingSince: newestSince), isBehind: try partitions.isBehind(),
                disposable: try partitions.disposable(receivedBefore: limit)
            )
        }
        var result = PartitionPruning()
        if let next = plan.next {
            let isMade = try await changeTables { partitions in
                // Another process may have created the partition.
                if try partitions.next(lastingSince: newestSince) == next { try partitions.begin(next) }
                return true
            }
            result.isPutOff = isMade == nil
        }
        if plan.next != nil || plan.isBehind {
            try await write(.everything) { db in try PayloadPartitions(db).advance() }
        }
        for number in plan.disposable {
            try await deleteDeadLetters(in: number)
            let isDropped = try await changeTables { partitions in
                // One of the partition's dead letters may have been revived.
                guard try partitions.disposable(receivedBefore: limit).contains(number),
                    try partitions.letters(in: number, limit: 1).isEmpty
                else { return false }
                try partitions.drop(number)
                return true
            }
            if isDropped == true { result.dropped += 1 }
            if isDropped == nil { result.isPutOff = true }
        }
        return result
    }

    private static let attempts = 5

    /// Creates or drops tables while no other change is made, without delaying other changes for long.
    /// - Returns: nil if a reader, such as an export, held the tables the whole time.
    private func changeTables(
        _ change: @escaping @Sendable (PayloadPartitions) throws -> Bool
    ) async throws(StoreError) -> Bool? {
        for attempt in 1...Self.attempts {
            do throws(StoreError) {
                return try await write(.everything) { db in
                    try db.send("SET LOCAL lock_timeout = 100", [])
                    return try change(PayloadPartitions(db))
                }
            } catch {
                guard error.kind == .busy else { throw error }
                if attempt < Self.attempts { try? await Task.sleep(for: .seconds(1)) }
            }
        }
        return nil
    }

    private static let lettersPerStep = 50

    private func deleteDeadLetters(in number: Int64) async throws(StoreError) {
        var count = 0
        repeat {
            count = try await write(.names([.pruning])) { db in
                let letters = try PayloadPartitions(db).letters(in: number, limit: Self.lettersPerStep)
                // A dead letter that was revived in the meantime keeps its payload.
                let dead = letters.filter(\.isDead)
                for letter in dead { try ForwardTable.delete(letter, db) }
                return dead.count
            }
        } while count > 0
    }
}
