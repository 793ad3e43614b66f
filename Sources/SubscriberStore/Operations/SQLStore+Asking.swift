package import OfferCore

extension SQLStore {
    package func claimDueSubscriptions(
        of app: AppScope, dueBefore time: Timestamp, leaseEnd: Timestamp, limit: Int
    ) async throws(StoreError) -> [DueSubscription] {
        try await write(.names([.checks(app)])) { db in
            guard let id = try AppTable.id(of: app, db) else { return [] }
            return try SubscriptionTable.due(before: time, id, limit: limit, db).compactMap { id, original, dueAt in
                guard try SubscriptionTable.postponeCheck(id, from: dueAt, to: leaseEnd, db) else { return nil }
                return DueSubscription(app: app, originalTransactionID: original, dueAt: dueAt)
            }
        }
    }

    package func giveUpChecking(_ subscription: TransactionID, of app: AppScope) async throws(StoreError) {
        try await write(.names([.subscription(subscription, app)])) { db in
            guard let app = try AppTable.id(of: app, db),
                let id = try SubscriptionTable.id(of: subscription, app, db)
            else { return }
            try SubscriptionTable.setCheck(id, nil, db)
        }
    }

    package func recoveryCheckpoint(of app: AppScope) async throws(StoreError) -> Timestamp? {
        try await read { db in try AppTable.recoveryCheckpoint(of: app, db) }
    }

    package func setRecoveryCheckpoint(_ time: Timestamp, of app: AppScope) async throws(StoreError) {
        try await write(.nothing) { db in try AppTable.setRecoveryCheckpoint(time, AppTable.makeID(of: app, db), db) }
    }
}
