package import OfferCore
package import OfferEligibility

extension SQLStore {
    package func record(
        _ reports: [OfferEventReport], of bundleID: BundleID, in environment: AppStoreEnvironment,
        onlyOf owner: CustomerIdentifier?
    ) async throws(StoreError) -> [OfferEvent] {
        try await write(.nothing) { db in
            var events: [OfferEvent] = []
            for report in reports {
                guard let (app, event) = try Self.event(report, bundleID, environment, owner, db) else { continue }
                try OfferEventTable.add(event, app, db)
                events.append(event)
            }
            return events
        }
    }

    /// - Returns: nil if the signature is unknown or another customer's.
    private static func event(
        _ report: OfferEventReport, _ bundleID: BundleID, _ environment: AppStoreEnvironment,
        _ owner: CustomerIdentifier?, _ db: any Database
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
            let app = try AppTable.makeID(of: AppScope(bundleID: bundleID, environment: environment), db)
            return (app, event(customer, productID, offerID, nil))
        case .signed(let nonce):
            for app in try AppTable.all(bundleID, nil, db).map(\.id) {
                guard let row = try AuthorisationTable.row(of: nonce, app, db) else { continue }
                let holders = try AuthorisationTable.holders(of: row["id"], db)
                guard owner.map(holders.contains) ?? true,
                    let holder = holders.first(where: { $0.account != nil }) ?? holders.first
                else { return nil }
                return (app, event(holder, try row.productID, try row.offerID, nonce))
            }
            return nil
        }
    }
}
