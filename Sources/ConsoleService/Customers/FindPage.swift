import AppStoreAPI
import OfferAudit
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore

/// `GET /find`: finds a customer by whatever the customer knows.
///
/// A text can be several things: the digits of a transaction ID can also be a username. Everything is tried, and one hit
/// opens the customer's page.
struct FindPage: Sendable {
    let directory: CustomerDirectory
    let acts: ConsoleActs

    static let fields = [FormReader.Field("q", maximumBytes: 512), FormReader.Field("app", maximumBytes: 255)]

    var route: ConsoleRoute { .page("/find", for: .roles(ConsoleSection.find.roles), Self.fields, answer) }

    @Sendable private func answer(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let apps = request.policy.catalogue?.apps ?? [:]
        let names = apps.keys.map(\.text.description).sorted()
        let query = (request.values["q"] ?? "").trimmingSpaces
        let app = request.values["app"].flatMap { $0.isEmpty ? nil : $0 }
        func page(_ result: FindView.Result?, status: Int = 200) -> ConsoleAnswer {
            var address = PageAddress("/find")
            if !query.isEmpty { address = address.with("q", query) }
            if let app { address = address.with("app", app) }
            return .page(
                FindView(
                    frame: request.frame(at: address), query: query, apps: names, app: app, result: result
                ).html, status: status)
        }
        guard !query.isEmpty, !request.isFromAnotherSite else { return page(nil) }
        let chosen = apps.filter { app == nil || $0.key.text.description == app }
        guard !chosen.isEmpty else {
            return page(.notFound(tried: [], hints: ["No app is configured. Name the apps in the configuration file."]))
        }
        try await acts.record(.search, request, customer: Array(query.utf8))
        let search = CustomerSearch(query)
        var found: [CustomerHit] = []
        var isAppStoreSilent = false
        do throws(OfferService.Problem) {
            for (bundleID, app) in chosen.sorted(by: { $0.key.text.description < $1.key.text.description }) {
                let hits = try await search.hits(in: bundleID, app, directory, &isAppStoreSilent)
                for hit in hits where !found.contains(where: { $0.customer.isSame(as: hit.customer) }) {
                    found.append(hit)
                }
            }
        } catch { return page(.unavailable(error.detail), status: 503) }
        if let only = found.first, found.count == 1 { return .redirect(only.address.page) }
        guard found.isEmpty else {
            for hit in found {
                try await acts.record(
                    .customer, request, app: hit.address.app, customer: hit.address.identifier.utf8)
            }
            return page(.several(found.map { FoundCustomer($0, at: request.now, request.clock) }))
        }
        guard !isAppStoreSilent else {
            let sentence = "The App Store did not answer, so purchases that this service does not know were not found."
            return page(.unavailable(sentence), status: 503)
        }
        return page(.notFound(tried: search.tried(in: chosen, directory), hints: search.hints(chosen, directory)))
    }
}

extension FindPage {
    /// The search box with an identifier, which the person can search for.
    static func prefilled(
        _ identifier: CustomerIdentifier, of app: AppScope, _ request: ConsoleRequest
    ) -> ConsoleAnswer {
        let apps = (request.policy.catalogue?.apps ?? [:]).keys.map(\.text.description).sorted()
        return .page(
            FindView(
                frame: request.frame(at: PageAddress("/find")),
                query: String(decoding: identifier.utf8, as: UTF8.self), apps: apps, app: app.bundleID.text.description
            ).html)
    }
}

/// A customer whom a search found, and the address of the page.
struct CustomerHit {
    let address: CustomerAddress
    let customer: KnownCustomer
    let app: Catalogue.App
}

extension FoundCustomer {
    fileprivate convenience init(_ hit: CustomerHit, at now: Timestamp, _ clock: ConsoleClock) {
        self.init(
            identifier: String(decoding: hit.address.identifier.utf8, as: UTF8.self),
            app: hit.address.app.bundleID.text.description, environment: hit.address.app.environment.rawValue,
            summary: hit.customer.summary(in: hit.app, at: now, clock), address: hit.address.page)
    }
}

/// The meanings that a text in the search box can have.
struct CustomerSearch {
    private let text: String
    let identifiers: [CustomerIdentifier]
    private let order: OrderNumber?

    init(_ text: String) {
        self.text = text
        let utf8 = Array(text.utf8)
        let kinds: [CustomerIdentifier.Kind] =
            UUIDText(parsing: utf8) != nil
            ? [.appAccountToken]
            : utf8.allSatisfy { (0x30...0x39).contains($0) }
                ? [.transactionID, .originalTransactionID, .appTransactionID, .applicationUsername]
                : [.applicationUsername, .transactionID]
        identifiers = kinds.compactMap { try? CustomerIdentifier($0, utf8: utf8, field: "q") }
        // Apple's order IDs begin with M.
        order = text.uppercased().hasPrefix("M") ? OrderNumber(text.uppercased()) : nil
    }

    /// Returns the customers whom the text names, in any of its meanings.
    /// - Parameter isAppStoreSilent: set if the App Store did not answer, so there may be more.
    func hits(
        in bundleID: BundleID, _ app: Catalogue.App, _ directory: CustomerDirectory, _ isAppStoreSilent: inout Bool
    ) async throws(OfferService.Problem) -> [CustomerHit] {
        var hits: [CustomerHit] = []
        for identifier in identifiers {
            let reference = CustomerReference(bundleID: bundleID, identifier: identifier, environment: nil)
            let found = try await directory.find(reference, of: app)
            isAppStoreSilent = isAppStoreSilent || found.isAppStoreSilent
            for customer in found.customers where !hits.contains(where: { $0.customer.isSame(as: customer) }) {
                hits.append(
                    CustomerHit(
                        address: CustomerAddress(customer.owned.app, identifier), customer: customer, app: app))
            }
        }
        guard hits.isEmpty, let order, directory.looksUpOrders(of: app) else { return hits }
        let found = try await directory.find(OrderReference(bundleID: bundleID, number: order), of: app)
        isAppStoreSilent = isAppStoreSilent || found.isAppStoreSilent
        for customer in found.customers {
            let original = customer.owned.purchases.purchases.first?.original
            guard
                let identifier = customer.owned.bestIdentifier ?? original.map(CustomerIdentifier.originalTransactionID)
            else { continue }
            hits.append(
                CustomerHit(address: CustomerAddress(customer.owned.app, identifier), customer: customer, app: app))
        }
        return hits
    }

    /// The look-ups that were made, a sentence each.
    func tried(in apps: [BundleID: Catalogue.App], _ directory: CustomerDirectory) -> [String] {
        var sentences = identifiers.map { "as \($0.kind.words)" }
        if order != nil {
            let asked = apps.values.contains(where: directory.looksUpOrders)
            sentences.append(
                asked ? "as an order ID, at the App Store" : "not as an order ID: the App Store is not queried")
        }
        return sentences
    }

    func hints(_ apps: [BundleID: Catalogue.App], _ directory: CustomerDirectory) -> [String] {
        var hints: [String] = []
        if !apps.values.contains(where: directory.looksUpOrders) {
            hints.append("Order IDs are found only if the service may query the App Store.")
        }
        if order == nil { hints.append("The order ID on Apple’s receipt begins with M.") }
        hints.append("A username is found only if your backend has linked it to purchases.")
        return hints
    }
}

extension CustomerIdentifier.Kind {
    /// The kind in a sentence, with its article.
    var words: String {
        switch self {
        case .appAccountToken: "an account token"
        case .applicationUsername: "a username"
        case .appTransactionID: "an Apple Account"
        case .originalTransactionID: "an original transaction ID"
        case .transactionID: "a transaction ID"
        }
    }
}

extension KnownCustomer {
    func isSame(as other: KnownCustomer) -> Bool {
        let (one, two) = (owned, other.owned)
        return one.app == two.app && !Set(one.holders).isDisjoint(with: two.holders)
    }

    /// The states of the subscriptions in a few words.
    func summary(in app: Catalogue.App, at now: Timestamp, _ clock: ConsoleClock) -> String {
        let subscriptions = owned.state(in: app, at: now).subscriptions
        guard !subscriptions.isEmpty else { return "no subscription" }
        return subscriptions.map { subscription in
            let end = subscription.endedAt ?? subscription.expiresAt
            let state = subscription.status.rawValue.replacing("_", with: " ")
            return "\(subscription.productID.text) \(state)" + (end.map { " until \(clock.date($0))" } ?? "")
        }.joined(separator: "; ")
    }
}

extension OwnedCustomer {
    /// The identifier by which people know the customer best; nil if the customer has no account and no Apple Account.
    var bestIdentifier: CustomerIdentifier? {
        appAccountToken.map(CustomerIdentifier.appAccountToken)
            ?? applicationUsername.map(CustomerIdentifier.applicationUsername)
            ?? appTransactionID.map(CustomerIdentifier.appTransactionID)
    }
}

extension String {
    /// The text without spaces and line ends around it, as copied from a mail.
    var trimmingSpaces: String {
        let body = drop { $0.isWhitespace }
        return String(body.dropLast(body.reversed().prefix { $0.isWhitespace }.count))
    }
}
