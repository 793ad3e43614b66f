import GRDB
package import OfferCore

extension SQLiteStore {
    package func claimDueSubscriptions(
        of app: AppScope, dueBefore time: Timestamp, leaseEnd: Timestamp, limit: Int
    ) async throws(StoreError) -> [DueSubscription] {
        try await writer.write { db in
            guard let id = try AppTable.id(of: app, db) else { return [] }
            return try SubscriptionTable.due(before: time, id, limit: limit, db).map { id, original, dueAt in
                try SubscriptionTable.setCheck(id, leaseEnd, db)
                return DueSubscription(app: app, originalTransactionID: original, dueAt: dueAt)
            }
        }
    }

    package func giveUpChecking(_ subscription: TransactionID, of app: AppScope) async throws(StoreError) {
        try await writer.write { db in
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
        try await writer.write { db in try AppTable.setRecoveryCheckpoint(time, AppTable.makeID(of: app, db), db) }
    }
}
