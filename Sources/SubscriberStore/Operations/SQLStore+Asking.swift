package import OfferCore
package import OfferEligibility

extension SQLStore {
    package func claimDueSubscriptions(
        of app: AppScope, dueBefore time: Timestamp, nextDueAt: Timestamp, limit: Int
    ) async throws(StoreError) -> [DueSubscription] {
        try await write(.names([.checks(app)])) { db in
            guard let id = try AppTable.id(of: app, db) else { return [] }
            let due = try SubscriptionTable.due(before: time, id, limit: limit, db)
            let moved = try SubscriptionTable.moveChecks(due.map { ($0.id, dueAt: $0.dueAt, to: nextDueAt) }, db)
            return zip(due, moved).filter { $1 }.map { due, _ in
                DueSubscription(
                    app: app, originalTransactionID: due.original, dueAt: due.dueAt, nextDueAt: nextDueAt)
            }
        }
    }

    package func settle(_ claims: [SettledClaim]) async throws(StoreError) {
        let names = claims.map { LockName.subscription($0.claim.originalTransactionID, $0.claim.app) }
        try await write(.names(Set(names))) { db in
            for (app, claims) in Dictionary(grouping: claims, by: \.claim.app) {
                guard let app = try AppTable.id(of: app, db) else { continue }
                let ids = try db.rows(claims.map { SubscriptionTable.id(of: $0.claim.originalTransactionID, app) })
                let checks = try zip(claims, ids).compactMap { settled, rows in
                    try rows.first.map { row in
                        (id: try row["id"] as Int64, dueAt: settled.claim.nextDueAt, to: settled.dueAt)
                    }
                }
                try SubscriptionTable.moveChecks(checks, db)
            }
        }
    }

    package func countDueSubscriptions(
        of app: AppScope, dueBefore time: Timestamp, limit: Int
    ) async throws(StoreError) -> Int {
        try await read { db in
            guard let id = try AppTable.id(of: app, db) else { return 0 }
            return Int(try SubscriptionTable.countDue(before: time, id, limit: limit, db))
        }
    }

    package func recoveryCheckpoint(of app: AppScope) async throws(StoreError) -> Timestamp? {
        try await read { db in try AppTable.recoveryCheckpoint(of: app, db) }
    }

    package func setRecoveryCheckpoint(
        _ time: Timestamp, since start: Timestamp, continuing: Bool, of app: AppScope, at now: Timestamp
    ) async throws(StoreError) {
        try await write(.nothing) { db in
            try AppTable.setRecoveryCheckpoint(
                time, since: start, continuing: continuing, AppTable.makeID(of: app, db), at: now, db)
        }
    }
}
