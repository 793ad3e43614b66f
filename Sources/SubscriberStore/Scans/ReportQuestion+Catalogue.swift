package import OfferCore
package import OfferEligibility
package import OfferReports

extension ReportQuestion {
    /// The question about an offer under the rules in force.
    package init(
        about offer: ReportedOffer, _ cohorts: ReportCohorts = ReportCohorts(), asOf: Timestamp, in catalogue: Catalogue
    ) {
        self.init(
            productID: offer.productID.text.description, offerID: offer.offerID.text.description,
            sample: offer.sample, asOf: asOf)
        (span, zone) = (cohorts.span, cohorts.zone)
        bundleID = offer.app.bundleID.text.description
        environment = offer.app.environment.rawValue
        let rules = catalogue.apps[offer.app.bundleID]?.rules
        let campaign = rules?.links?.campaigns.first { $0.sample == offer.sample }
        let sizes = offer.sample.flatMap { rules?.sampleSizes[$0] } ?? []
        plannedShare = sizes.count == 1 ? sizes.first : campaign.map { 1 - $0.holdOut }
        rulesDigest = Hexadecimal.text(of: catalogue.digest)
        tracked = catalogue.apps[offer.app.bundleID].map { $0.tracked.map(\.description).sorted() } ?? []
    }
}

extension SubscriptionQuestion {
    /// The question about the subscriptions of an app, with the rules in force.
    package init(about app: AppScope, asOf: Timestamp, zone: ReportZone, in catalogue: Catalogue) {
        self.init(asOf: asOf)
        self.zone = zone
        bundleID = app.bundleID.text.description
        environment = app.environment.rawValue
        plannedShares =
            catalogue.apps[app.bundleID]?.rules.sampleSizes.compactMapValues { $0.count == 1 ? $0.first : nil } ?? [:]
        rulesDigest = Hexadecimal.text(of: catalogue.digest)
    }
}

extension ReportSubject {
    /// Makes the report from the store.
    /// - Parameters:
    ///   - progress: called with the number of customers or subscriptions read so far, after each step.
    /// - Returns: the result to keep; nil if the app is not configured.
    package func result(
        in catalogue: Catalogue, at now: Timestamp, over store: any SubscriberStore,
        progress: @Sendable (Int) async -> Void
    ) async throws -> [UInt8]? {
        guard let settings = catalogue.apps[app.bundleID] else { return nil }
        let time = asOf ?? now
        switch topic {
        case .offer(let offer, let cohorts):
            let question = ReportQuestion(about: offer, cohorts, asOf: time, in: catalogue)
            return try await OfferReportReader(offer, question, settings).run(over: store, progress: progress).kept
        case .subscriptions(let app, let zone):
            let question = SubscriptionQuestion(about: app, asOf: time, zone: zone, in: catalogue)
            return try await SubscriptionReportReader(app, question, settings).run(over: store, progress: progress).kept
        }
    }
}

extension Catalogue.App {
    /// Production, if the app has it. Only there do customers pay.
    package var firstEnvironment: AppStoreEnvironment {
        AppStoreEnvironment.known.first(where: environments.contains) ?? .production
    }
}

extension Catalogue {
    /// The offers with a rule, each with the samples and the mailings that divide its customers, in the app's first environment.
    package var reportedOffers: [ReportedOffer] {
        apps.sorted { $0.key.text.description < $1.key.text.description }.flatMap { bundleID, app in
            let scope = AppScope(bundleID: bundleID, environment: app.firstEnvironment)
            return app.rules.offersByRank.flatMap { terms in
                let names = terms.rule.sampleNames
                let samples = (names.isEmpty ? [nil] : names.map(Optional.some)) + app.rules.mailings(of: terms)
                return samples.map { sample in
                    ReportedOffer(app: scope, productID: terms.productID, offerID: terms.offerID, sample: sample)
                }
            }
        }
    }
}
