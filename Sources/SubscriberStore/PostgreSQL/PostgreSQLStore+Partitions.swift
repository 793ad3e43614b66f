package import OfferCore

extension PostgreSQLStore {
    package func prunePartitions(
        receivedBefore limit: Timestamp, span: Duration, at now: Timestamp
    ) async throws(StoreError) -> Int? {
        let newestSince = now + (.zero - span)
        let (next, disposable) = try await read { db in
            let partitions = try PayloadPartitions(db)
            return (
                try partitions.next(lastingSince: newestSince), try partitions.disposable(receivedBefore: limit)
            )
        }
        for place in disposable { try await deleteDeadLetters(in: place) }
        guard next != nil || !disposable.isEmpty else { return 0 }
        do throws(StoreError) {
            // Tables are made and dropped while no other change uses them. What is true now may differ from what was read.
            return try await write(.everything) { db in
                try db.send("SET LOCAL lock_timeout = 1000", [])
                let partitions = try PayloadPartitions(db)
                if let next = try partitions.next(lastingSince: newestSince) { try partitions.begin(next) }
                let empty = try partitions.disposable(receivedBefore: limit).filter {
                    try partitions.deadLetters(in: $0, limit: 1).isEmpty
                }
                for place in empty { try partitions.drop(place) }
                return empty.count
            }
        } catch {
            // An export reads the tables for minutes. Pruning comes again.
            guard error.kind == .busy else { throw error }
            return 0
        }
    }

    private static let lettersPerStep = 50

    private func deleteDeadLetters(in place: Int64) async throws(StoreError) {
        var count = 0
        repeat {
            count = try await write(.names([.pruning])) { db in
                let letters = try PayloadPartitions(db).deadLetters(in: place, limit: Self.lettersPerStep)
                // One that was revived meanwhile keeps its payload.
                let dead = letters.filter(\.isDead)
                for letter in dead { try ForwardTable.delete(letter, db) }
                return dead.count
            }
        } while count > 0
    }
}
