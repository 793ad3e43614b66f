import OfferCore
package import OfferEligibility

extension SQLStore {
    package func record(
        _ reports: [OfferEventReport], of scope: AppScope, onlyOf owner: CustomerIdentifier?
    ) async throws(StoreError) -> [OfferEvent] {
        // Of a signature, each kind of event counts once, even if it is reported twice at the same time.
        let names = reports.compactMap { report -> LockName? in
            guard case .signed(let nonce) = report.offer else { return nil }
            return .event(nonce)
        }
        return try await write(.names(Set(names))) { db in
            var events: [OfferEvent] = []
            for report in reports {
                guard let (app, event) = try Self.event(report, scope, owner, db) else { continue }
                try OfferEventTable.add(event, app, db)
                if event.kind == .shown || event.kind == .dismissed, let customer = event.subject.customer {
                    try CustomerSearch.markReviews(of: customer, app, db)
                }
                events.append(event)
            }
            return events
        }
    }

    /// - Returns: nil if the signature is unknown or another customer's.
    private static func event(
        _ report: OfferEventReport, _ scope: AppScope, _ owner: CustomerIdentifier?, _ db: any Database
    ) throws -> (app: Int64, event: OfferEvent)? {
        func event(_ customer: CustomerIdentifier, _ productID: ProductID, _ offerID: OfferID, _ nonce: Nonce?)
            -> OfferEvent
        {
            OfferEvent(
                subject: .customer(customer), kind: report.kind, productID: productID, offerID: offerID, at: report.at,
                error: report.error, nonce: nonce)
        }
        switch report.offer {
        case .named(let customer, let productID, let offerID):
            let app = try AppTable.makeID(of: scope, db)
            return (app, event(customer, productID, offerID, nil))
        case .signed(let nonce):
            for app in try AppTable.all(scope.bundleID, nil, db).map(\.id) {
                guard let row = try AuthorisationTable.row(of: nonce, app, db) else { continue }
                let holders = try AuthorisationTable.holders(of: row["id"], db)
                guard owner.map(holders.contains) ?? true, let holder = recorded(holders) else { return nil }
                return (app, event(holder, try row.productID, try row.offerID, nonce))
            }
            return nil
        }
    }

    /// Returns the holder of a signature under which its exposure is recorded.
    private static func recorded(_ holders: [CustomerIdentifier]) -> CustomerIdentifier? {
        let appleAccounts = holders.filter { if case .appTransactionID = $0 { true } else { false } }
        return (appleAccounts.count == 1 ? appleAccounts.first : nil)
            ?? holders.first { $0.account != nil } ?? holders.first
    }
}
