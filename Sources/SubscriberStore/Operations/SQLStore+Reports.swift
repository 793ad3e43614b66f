package import OfferCore
package import OfferEligibility

extension SQLStore {
    package func exposures(
        to offer: ReportedOffer, withTracked isTracking: Bool, after place: ExposurePlace, limit: Int
    ) async throws(StoreError) -> ExposurePage {
        try await read { db in
            let scope = offer.app
            guard let (app, _, coverage) = try AppTable.all(scope.bundleID, scope.environment, db).first else {
                return ExposurePage(records: [], next: nil)
            }
            let (exposures, next) = try ExposureTable.page(of: offer, app, after: place, limit: limit, db)
            let records = try exposures.map { exposure in
                guard let identifier = exposure.customer else {
                    return ExposedRecord(exposure: exposure, customer: nil, signatures: [], tracked: [])
                }
                let search = try CustomerSearch(CustomerQuery(identifier), app, db)
                let signed = try AuthorisationTable.held(by: [identifier], app, db).map(\.authorisation).filter {
                    $0.state != .withdrawn && $0.productID == offer.productID && $0.offerID == offer.offerID
                }
                let tracked = isTracking ? TrackedFactTable.all(of: search.allNames, app) : []
                return ExposedRecord(
                    exposure: exposure, customer: try Self.customer(search, app, scope, coverage, db),
                    signatures: signed.sorted { ($0.at, $0.validUntil) < ($1.at, $1.validUntil) },
                    tracked: try db.rows(tracked).joined().map(TrackedFactTable.fact))
            }
            return ExposurePage(records: records, next: next)
        }
    }

    package func subscriptionFacts(
        in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> [[SubscriberFact]] {
        try await read { db in
            guard let id = try AppTable.id(of: app, db) else { return [] }
            let subscriptions = try SubscriptionTable.originals(of: id, numbers, db)
            return try zip(subscriptions, db.rows(subscriptions.map { FactTable.all($0.number) })).map { found, rows in
                try rows.map { try FactTable.fact($0, of: found.original) }
            }
        }
    }

    package func retentionRecords(
        in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> [RetentionRecord] {
        try await read { db in
            guard let (id, _, coverage) = try AppTable.all(app.bundleID, app.environment, db).first,
                try RetentionShownTable.isUsed(by: id, db)
            else { return [] }
            let subscriptions = try SubscriptionTable.originals(of: id, numbers, db).map(\.original)
            let shown = try db.rows(RetentionShownTable.all(about: Set(subscriptions), id)).joined()
                .map(RetentionShownTable.shown)
            let bySubject = Dictionary(grouping: shown, by: \.subject)
            return try subscriptions.compactMap { original in
                guard let shown = bySubject[.subscription(original)] else { return nil }
                let search = try CustomerSearch(CustomerQuery(.originalTransactionID(original)), id, db)
                return RetentionRecord(
                    originalTransactionID: original, shown: shown,
                    customer: try Self.customer(search, id, app, coverage, db))
            }
        }
    }

    package func keptReports() async throws(StoreError) -> [KeptReport] {
        try await read { db in try ReportTable.all(db) }
    }

    package func result(of subject: ReportSubject) async throws(StoreError) -> [UInt8]? {
        try await read { db in try ReportTable.result(of: subject, db) }
    }

    package func requestReport(_ subject: ReportSubject, at now: Timestamp) async throws(StoreError) -> Bool {
        try await write(.names([.reports])) { db in try ReportTable.request(subject, at: now, db) }
    }

    package func noteProgress(of subject: ReportSubject, customersRead: Int) async throws(StoreError) {
        try await write(.nothing) { db in
            try ReportTable.noteProgress(of: subject, customersRead: customersRead, db)
        }
    }

    package func settleReport(
        _ subject: ReportSubject, result: [UInt8]?, at now: Timestamp
    ) async throws(StoreError) {
        try await write(.nothing) { db in try ReportTable.settle(subject, result: result, at: now, db) }
    }
}
