package import OfferCore

extension SQLStore {
    package func claimForwards(
        to receiver: String, dueAt now: Timestamp, leaseEnd: Timestamp, limit: Int
    ) async throws(StoreError) -> [Forward] {
        try await write(.names([.receiver(receiver)])) { db in
            guard let id = try ReceiverTable.id(of: receiver, db) else { return [] }
            return try ForwardTable.claim(id, dueAt: now, leaseEnd: leaseEnd, limit: limit, db)
        }
    }

    package func settle(_ forward: Forward.ID, _ outcome: ForwardOutcome) async throws(StoreError) {
        try await write(.names(forward.queue.map { [$0] } ?? [])) { db in
            guard let entry = try ForwardTable.entry(forward.number, db), !entry.isDead else { return }
            switch outcome {
            case .delivered: try ForwardTable.delete(entry, db)
            case .failed(let nextAttempt): try ForwardTable.postpone(entry, to: nextAttempt, db)
            case .dead(let time): try ForwardTable.bury(entry, at: time, db)
            }
        }
    }

    package func giveUpForwards(
        to receiver: String, receivedBefore time: Timestamp, at now: Timestamp, limit: Int
    ) async throws(StoreError) -> Int {
        try await write(.everything) { db in
            guard let id = try ReceiverTable.id(of: receiver, db) else { return 0 }
            let old = try ForwardTable.oldest(id, receivedBefore: time, limit: limit, db)
            for entry in old { try ForwardTable.bury(entry, at: now, db) }
            return old.count
        }
    }

    package func reviveDeadLetters(at now: Timestamp) async throws(StoreError) -> Int {
        var count = 0
        var last: Int64? = 0
        // Entries are revived in steps, so that notifications do not wait long. Entries that die again in the meantime
        // are not revived again.
        while let end = last {
            let revived = try await write(.everything) { try ForwardTable.revive(after: end, at: now, limit: 500, $0) }
            count += revived.count
            last = revived.last
        }
        return count
    }

    package func deadLetters(after: Forward.ID?, limit: Int) async throws(StoreError) -> [DeadLetter] {
        try await read { try ForwardTable.deadLetters(after: after?.number ?? 0, limit: limit, $0) }
    }
}
