import OfferConfiguration
import OfferCore
import OfferEligibility
import SubscriberStore

extension DoctorCommand {
    /// Prints, for each app, the number of offers with a report, the number with a holdout, and the facts that reports compare.
    func reportReports(_ configuration: Configuration) {
        let catalogue = configuration.catalogue ?? Catalogue(apps: [:])
        let offers = Dictionary(grouping: catalogue.reportedOffers, by: \.app.bundleID)
        for (bundleID, app) in catalogue.apps.sorted(by: { $0.key.text.description < $1.key.text.description }) {
            let own = offers[bundleID] ?? []
            let reported = Set(own.map { CatalogueItem(app: bundleID, product: $0.productID, offer: $0.offerID) })
            let compared = Set(
                own.filter { $0.sample != nil }.map {
                    CatalogueItem(app: bundleID, product: $0.productID, offer: $0.offerID)
                })
            guard !reported.isEmpty || !app.tracked.isEmpty else { continue }
            var text =
                "reports of \(bundleID.text): \(reported.count) offers with a rule, \(compared.count) of them with a holdout"
            if !app.tracked.isEmpty {
                text += "; facts compared: \(app.tracked.map(\.description).sorted().joined(separator: ", "))"
            }
            report(text)
        }
    }
}
