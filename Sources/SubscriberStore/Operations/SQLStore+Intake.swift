import OfferCore
package import OfferEligibility

extension SQLStore {
    package func apply(_ delivery: Delivery) async throws(StoreError) -> DeliveryOutcome {
        let scope = ChangeScope.facts(delivery.facts, delivery.app)
            .union([.notification(delivery.notification.notificationUUID, delivery.app)])
        return try await write(.names(scope)) { try Self.apply(delivery, $0) }
    }

    private static func apply(_ delivery: Delivery, _ db: any Database) throws -> DeliveryOutcome {
        let app = try AppTable.makeID(of: delivery.app, db)
        let notification = delivery.notification
        guard let id = try NotificationTable.add(notification, app, db) else { return .known }
        try AppTable.count(notification, app, db)
        let subscriptions = try FactMerge(db: db, app: app).merge(delivery.facts)
        try PayloadTable.add(delivery.body, of: id, receivedAt: notification.receivedAt, db)
        for subscription in subscriptions { try PayloadTable.addMention(of: subscription, in: id, db) }
        for url in delivery.receivers {
            let receiver = try ReceiverTable.makeID(of: url, db)
            try ForwardTable.add(
                id, to: receiver, about: subscriptions.first, receivedAt: notification.receivedAt, db)
        }
        return .applied
    }

    package func merge(_ facts: [SubscriberFact], in app: AppScope) async throws(StoreError) {
        try await write(.names(ChangeScope.facts(facts, app))) { db in
            _ = try FactMerge(db: db, app: AppTable.makeID(of: app, db)).merge(facts)
        }
    }
}
