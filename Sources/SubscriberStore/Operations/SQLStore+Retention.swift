package import OfferCore
package import OfferEligibility

extension SQLStore {
    package func retentionOffer(
        for request: UUIDText, in app: AppScope, at now: Timestamp
    ) async throws(StoreError) -> RememberedRetentionOffer? {
        try await read { db in
            try AppTable.id(of: app, db).flatMap { try RetentionTable.offer(for: request, $0, at: now, db) }
        }
    }

    package func reserve(
        _ reservation: RetentionReservation
    ) async throws(StoreError) -> RetentionReservationAnswer {
        let ledger = reservation.ledger
        let names = ledger.lockNames.union([.request(reservation.requestIdentifier, ledger.app)])
        return try await write(.names(names)) { db in
            let app = try AppTable.makeID(of: ledger.app, db)
            let request = reservation.requestIdentifier
            if let known = try RetentionTable.offer(for: request, app, at: ledger.at, db) { return .known(known) }
            var check = try LedgerCheck(ledger, app, db)
            let answers = try check.answers()
            guard let place = answers.firstIndex(of: .reserved), let nonce = ledger.offers[place].nonces.first else {
                return .new(answers)
            }
            try RetentionTable.add(reservation.forms[place], nonce, for: request, at: ledger.at, app, db)
            return .new(answers)
        }
    }

    package func record(_ shown: RetentionShown, in app: AppScope) async throws(StoreError) {
        try await write(.nothing) { db in
            let app = try AppTable.makeID(of: app, db)
            // An offer in an answer counts as shown.
            guard try RetentionShownTable.add(shown, app, db), let event = OfferEvent(shown) else { return }
            try OfferEventTable.add(event, app, db)
            if case .subscription(let original) = shown.subject { try ReviewTable.mark(original, app, db) }
        }
    }

    package func retentionShown(
        about subscriptions: Set<TransactionID>, in app: AppScope
    ) async throws(StoreError) -> [RetentionShown] {
        try await read { db in
            guard let app = try AppTable.id(of: app, db) else { return [] }
            return try db.rows(RetentionShownTable.all(about: subscriptions, app)).joined()
                .map(RetentionShownTable.shown)
        }
    }

    package func pruneRetentionOffers(before time: Timestamp) async throws(StoreError) {
        try await write(.everything) { db in try RetentionTable.prune(before: time, db) }
    }
}
