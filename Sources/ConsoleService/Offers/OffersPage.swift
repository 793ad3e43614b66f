import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore
import SubscriberSync

/// `GET /offers`: the offers of the configuration, and what happened to them in the last four weeks.
struct OffersPage: Sendable {
    let store: CurrentStore

    /// The days that the plot shows, today included.
    private static let dayCount = 28
    private static let millisecondsInDay: Int64 = 86_400_000

    static let fields = [
        FormReader.Field("app", maximumBytes: 255), FormReader.Field("product", maximumBytes: 255),
        FormReader.Field("offer", maximumBytes: 255),
    ]

    var routes: [ConsoleRoute] {
        let access = ConsoleRoute.Access.roles(ConsoleSection.offers.roles)
        return [
            .page("/offers", for: access, Self.fields) { request async throws(ConsoleRefusal) in
                .page(try await view(request).html)
            },
            .page("/offers.csv", for: access, Self.fields) { request async throws(ConsoleRefusal) in
                .csv(try await view(request).csvText, name: "offers.csv")
            },
        ]
    }

    private func view(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> OffersView {
        let today = request.now.milliseconds / Self.millisecondsInDay
        let first = Timestamp(milliseconds: (today - Int64(Self.dayCount) + 1) * Self.millisecondsInDay)
        let activity: [OfferActivity]
        do { activity = try await store.offerActivity(since: first) } catch { throw request.unavailable }
        let offers = (request.policy.catalogue?.apps ?? [:]).flatMap { bundleID, app in
            ConfiguredOffer.all(of: app, bundleID)
        }.sorted { ($0.app, $0.productID, $0.offerID) < ($1.app, $1.productID, $1.offerID) }
        let mayReport = request.hasRole(in: .reports)
        let views = offers.map { OffersView.Offer($0, activity, linksReport: mayReport) }
        let selected = offers.firstIndex { offer in
            offer.offerID == request.values["offer"] && offer.productID == request.values["product"]
                && offer.app == request.values["app"]
        }
        guard selected != nil || request.values["offer"] == nil else { throw .problem(.notFound) }
        let plotted = activity.filter { activity in
            (selected.map { [offers[$0]] } ?? offers).contains { $0.isSame(as: activity) }
        }
        let days = (0..<Self.dayCount).map { day in
            let number = today - Int64(Self.dayCount - 1 - day)
            let start = Timestamp(milliseconds: number * Self.millisecondsInDay)
            return OffersView.Day(
                start: start, signed: plotted.reduce(0) { $0 + ($1.signedByDay[number] ?? 0) },
                redeemed: plotted.reduce(0) { $0 + ($1.redeemedByDay[number] ?? 0) })
        }
        let address = selected.map { offers[$0].address(of: "/offers") } ?? PageAddress("/offers")
        return OffersView(
            frame: request.frame(at: address), offers: views, selected: selected.map { views[$0] }, days: days,
            csv: selected.map { offers[$0].address(of: "/offers.csv") } ?? PageAddress("/offers.csv"))
    }
}

/// An offer of the configuration.
private struct ConfiguredOffer {
    let app: String
    let productID: String
    let offerID: String
    /// The environment whose activity counts: Production if the app has it.
    let environment: AppStoreEnvironment?
    /// nil for an offer without a rule.
    let terms: OfferTerms?

    static func all(of app: Catalogue.App, _ bundleID: BundleID) -> [ConfiguredOffer] {
        app.offers.flatMap { productID, offerIDs in
            offerIDs.map { offerID in
                ConfiguredOffer(
                    app: bundleID.text.description, productID: productID.text.description,
                    offerID: offerID.text.description,
                    environment: AppStoreEnvironment.known.first(where: app.environments.contains),
                    terms: app.rules.terms(of: productID, offerID))
            }
        }
    }

    func address(of path: StaticString) -> PageAddress {
        PageAddress(path).with("app", app).with("product", productID).with("offer", offerID)
    }

    func isSame(as activity: OfferActivity) -> Bool {
        activity.app.bundleID.text.description == app && activity.productID.text.description == productID
            && activity.offerID == offerID && activity.app.environment == environment
    }
}

extension OffersView.Offer {
    fileprivate convenience init(_ offer: ConfiguredOffer, _ activity: [OfferActivity], linksReport: Bool) {
        let own = activity.filter(offer.isSame)
        func sum(_ count: (OfferActivity) -> Int64) -> Int64 { own.reduce(0) { $0 + count($1) } }
        self.init(
            offerID: offer.offerID, productID: offer.productID, app: offer.app, ruleName: offer.terms?.rule.name,
            rule: offer.terms?.rule.text, limits: offer.terms?.limits.texts ?? [],
            total: offer.terms?.limits.total.map { limit in
                OffersView.Total(used: sum(\.redeemed), limit: Int64(limit))
            },
            signed: sum { $0.signedByDay.values.reduce(0, +) }, redeemed: sum(\.redeemed),
            offered: sum(\.offered), heldOut: sum(\.heldOut), address: offer.address(of: "/offers"),
            report: linksReport && offer.terms != nil ? offer.address(of: "/reports/offer") : nil)
    }
}
