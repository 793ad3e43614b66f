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

    static let fields = [FormReader.Field("q", maximumBytes: 256), FormReader.Field("app", maximumBytes: 255)]

    var route: ConsoleRoute { .page("/find", for: .roles(ConsoleSection.find.roles), Self.fields, answer) }

    @Sendable private func answer(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let apps = request.policy.catalogue?.apps ?? [:]
        let names = apps.keys.map(\.text.description).sorted()
        let query = (request.values["q"] ?? "").trimmingSpaces
        let app = request.values["app"].flatMap { $0.isEmpty ? nil : $0 }
        func page(_ result: FindView.Result?) -> ConsoleAnswer {
            var address = PageAddress("/find")
            if !query.isEmpty { address = address.with("q", query) }
            if let app { address = address.with("app", app) }
            return .page(
                FindView(
                    frame: request.frame(at: address), query: query, apps: names, app: app, result: result
                ).html)
        }
        guard !query.isEmpty else { return page(nil) }
        let chosen = apps.filter { app == nil || $0.key.text.description == app }
        guard !chosen.isEmpty else {
            return page(.notFound(tried: [], hints: ["No app is configured. Name the apps in the configuration file."]))
        }
        try await acts.record(.search, request, customer: Array(query.utf8))
        let search = CustomerSearch(query)
        var found: [(address: CustomerAddress, customer: KnownCustomer, app: Catalogue.App)] = []
        do throws(OfferService.Problem) {
            for (bundleID, app) in chosen.sorted(by: { $0.key.text.description < $1.key.text.description }) {
                for hit in try await search.hits(in: bundleID, app, directory)
                where !found.contains(where: { $0.customer.isSame(as: hit.1) }) {
                    found.append((hit.0, hit.1, app))
                }
            }
        } catch { return page(.unavailable(error.detail)) }
        if let only = found.first, found.count == 1 { return .redirect(only.address.page) }
        guard found.isEmpty else {
            return page(
                .several(
                    found.map { address, customer, app in
                        FoundCustomer(
                            identifier: String(decoding: address.identifier.utf8, as: UTF8.self),
                            app: address.app.bundleID.text.description, environment: address.app.environment.rawValue,
                            summary: customer.summary(in: app, at: request.now, request.clock), address: address.page)
                    }))
        }
        return page(.notFound(tried: search.tried(in: chosen, directory), hints: search.hints(chosen, directory)))
    }
}

/// The meanings that a text in the search box can have.
struct CustomerSearch {
    private let text: String
    private let identifiers: [CustomerIdentifier]
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

    /// Returns the customers whom the text names.
    func hits(
        in bundleID: BundleID, _ app: Catalogue.App, _ directory: CustomerDirectory
    ) async throws(OfferService.Problem) -> [(CustomerAddress, KnownCustomer)] {
        var hits: [(CustomerAddress, KnownCustomer)] = []
        for identifier in identifiers {
            let reference = CustomerReference(bundleID: bundleID, identifier: identifier, environment: nil)
            let known: [KnownCustomer]
            do throws(OfferService.Problem) {
                known = try await directory.customers(known: reference, of: app)
            } catch {
                // Nothing but the App Store can tell whether a number is a transaction. The store is still searched.
                guard error.code == .appStoreUnavailable else { throw error }
                continue
            }
            for customer in known { hits.append((CustomerAddress(customer.owned.app, identifier), customer)) }
            if !hits.isEmpty { return hits }
        }
        guard let order, directory.looksUpOrders(of: app) else { return hits }
        for customer in try await directory.customers(
            ofOrder: OrderReference(bundleID: bundleID, number: order), of: app)
        {
            let original = customer.owned.purchases.purchases.first?.original
            guard
                let identifier = customer.owned.bestIdentifier ?? original.map(CustomerIdentifier.originalTransactionID)
            else { continue }
            hits.append((CustomerAddress(customer.owned.app, identifier), customer))
        }
        return hits
    }

    /// What was looked up, in sentences.
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
