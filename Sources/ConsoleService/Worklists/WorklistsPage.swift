import OfferAudit
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore
import SubscriberSync

/// `GET /lists`: the customers to write to. A list is read in parts, and each part can be downloaded.
struct WorklistsPage: Sendable {
    let store: CurrentStore
    let acts: ConsoleActs
    let metrics: ServiceMetrics
    /// The parts that are read at the same time.
    private let limit = LaneLimit(2)

    init(store: CurrentStore, acts: ConsoleActs, metrics: ServiceMetrics) {
        self.store = store
        self.metrics = metrics
        self.acts = acts
    }

    private static let fields =
        WorklistAddress.fields + [FormReader.Field("from", maximumBytes: 18)]
    private static let fileFields =
        fields + [FormReader.Field("before", maximumBytes: 18), FormReader.Field("name", maximumBytes: 32)]

    var routes: [ConsoleRoute] {
        let access = ConsoleRoute.Access.roles(ConsoleSection.lists.roles)
        return [
            .page("/lists", for: access, Self.fields, answer),
            .page("/lists.csv", for: access, Self.fileFields, download),
        ]
    }

    @Sendable private func answer(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        // A link of another site reads no list.
        guard request.values["app"] != nil, !request.isFromAnotherSite else {
            let lists = (request.policy.catalogue?.apps ?? [:])
                .sorted { $0.key.text.description < $1.key.text.description }
                .flatMap { bundleID, app in WorklistAddress.all(of: app, bundleID) }
            return .page(
                WorklistsView(frame: request.frame(at: PageAddress("/lists")), lists: lists.map { $0.view() }).html)
        }
        let address = try WorklistAddress(request)
        let start = try Self.number("from", request)
        try await record(address, request)
        // A person waits, so a part ends soon.
        let part = try await read(address, request) { reader, store async throws(StoreError) in
            try await reader.page(
                from: start, limit: 10_000, maximumSteps: .max, maximumTime: .seconds(2), in: store)
        }
        let opensCustomers = request.hasRole(in: .find)
        func at(_ number: Int64?, _ page: PageAddress) -> PageAddress {
            number.map { page.with("from", String($0)) } ?? page
        }
        var file = at(start, address.page(of: "/lists.csv"))
        if let next = part.next { file = file.with("before", String(next)) }
        let view = WorklistView(
            frame: request.frame(at: at(start, address.page(of: "/lists"))), list: address.view(),
            isFirst: start == nil, count: part.customers.count,
            customers: part.customers.prefix(WorklistView.maximumRows).map {
                WorklistView.Customer($0, in: address.scope, opens: opensCustomers)
            },
            names: WorklistCustomer.names.map { kind in
                WorklistView.Name(
                    kind: kind.rawValue, words: kind.plural, count: part.customers.count { $0.name(kind) != nil })
            }, csv: file, next: part.next.map { at($0, address.page(of: "/lists")) })
        return .page(view.html)
    }

    /// `GET /lists.csv`: a part of a list, as `offer-signer customers list` writes it.
    @Sendable private func download(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let address = try WorklistAddress(request)
        let (start, end) = (try Self.number("from", request), try Self.number("before", request))
        guard let kind = WorklistCustomer.names.first(where: { $0.rawValue == request.values["name"] }) else {
            throw .problem(.badRequest("The field name is not the name of customers."))
        }
        guard !request.isFromAnotherSite else { return .redirect(PageAddress("/lists")) }
        try await record(address, request)
        let part = try await read(address, request) { reader, store async throws(StoreError) in
            try await reader.page(
                from: start, before: end, limit: .max, maximumSteps: .max, maximumTime: .seconds(20), in: store)
        }
        // A file with a gap must not look complete.
        guard part.next == nil else { throw request.unavailable }
        var table = CSV()
        table.add(WorklistCustomer.csvHead(naming: kind))
        for customer in part.customers { if let cells = customer.csv(naming: kind) { table.add(cells) } }
        return .csv(table.text, name: "customers.csv")
    }

    private func record(_ address: WorklistAddress, _ request: ConsoleRequest) async throws(ConsoleRefusal) {
        let offer = address.list.offer
        try await acts.record(
            .worklist, request, app: address.scope,
            item: CatalogueItem(app: address.scope.bundleID, product: offer?.productID, offer: offer?.offerID),
            about: address.state?.rawValue)
    }

    /// Reads on threads that leave the cores to offers.
    private func read(
        _ address: WorklistAddress, _ request: ConsoleRequest,
        _ read: @escaping @Sendable (WorklistReader, CurrentStore) async throws(StoreError) -> WorklistReader.Page
    ) async throws(ConsoleRefusal) -> WorklistReader.Page {
        guard limit.enter() else { throw request.unavailable }
        defer { limit.leave() }
        let reader = WorklistReader(
            address.list, of: address.scope, try request.app(address.scope.bundleID), at: request.now)
        do throws(StoreError) {
            let part = try await BackgroundThreads.shared.reading.run {
                [store] () async throws(StoreError) in try await read(reader, store)
            }
            metrics.listed(part.customers.count, on: address.list)
            return part
        } catch { throw request.unavailable }
    }

    private static func number(
        _ field: String, _ request: ConsoleRequest
    ) throws(ConsoleRefusal) -> Int64? {
        guard let text = request.values[field] else { return nil }
        guard let number = Int64(text), number >= 0 else {
            throw .problem(.badRequest("The field \(field) is not the number of a part."))
        }
        return number
    }
}

/// The address of a list: the app, the environment, and an offer or a state.
private struct WorklistAddress {
    let scope: AppScope
    let list: Worklist

    static let fields = [
        FormReader.Field("app", maximumBytes: 255), FormReader.Field("environment", maximumBytes: 16),
        FormReader.Field("product", maximumBytes: 255), FormReader.Field("offer", maximumBytes: 255),
        FormReader.Field("state", maximumBytes: 32), FormReader.Field("heldOut", maximumBytes: 8),
    ]

    private init(_ scope: AppScope, _ list: Worklist) {
        self.scope = scope
        self.list = list
    }

    init(_ request: ConsoleRequest) throws(ConsoleRefusal) {
        let values = request.values
        guard let bundleID = try? BundleID(utf8: Array((values["app"] ?? "").utf8)) else { throw .problem(.notFound) }
        let app = try request.app(bundleID)
        let includesHeldOut = values["heldOut"] == "include"
        guard
            let address = Self.all(of: app, bundleID).first(where: { address in
                address.scope.environment.rawValue == values["environment"]
                    && address.state?.rawValue == values["state"]
                    && address.list.offer?.productID.text.description == values["product"]
                    && address.list.offer?.offerID.text.description == values["offer"]
            })
        else { throw .problem(.notFound) }
        self = address.includingHeldOut(includesHeldOut)
    }

    var state: Worklist.State? { if case .state(let state) = list { state } else { nil } }

    private var includesHeldOut: Bool { if case .offer(_, true) = list { true } else { false } }

    private func includingHeldOut(_ includesHeldOut: Bool) -> WorklistAddress {
        WorklistAddress(scope, list.offer.map { .offer($0, includesHeldOut: includesHeldOut) } ?? list)
    }

    /// The lists of an app, without customers who are held out.
    static func all(of app: Catalogue.App, _ bundleID: BundleID) -> [WorklistAddress] {
        let lists =
            app.rules.offers.map { Worklist.offer($0, includesHeldOut: false) }
            + Worklist.State.allCases.map(Worklist.state)
        return AppStoreEnvironment.known.filter(app.environments.contains).flatMap { environment in
            lists.map { WorklistAddress(AppScope(bundleID: bundleID, environment: environment), $0) }
        }
    }

    func page(of path: StaticString) -> PageAddress {
        let page = PageAddress(path).with("app", scope.bundleID.text.description)
            .with("environment", scope.environment.rawValue)
        switch list {
        case .state(let state): return page.with("state", state.rawValue)
        case .offer(let terms, let includesHeldOut):
            let offer = page.with("product", terms.productID.text.description)
                .with("offer", terms.offerID.text.description)
            return includesHeldOut ? offer.with("heldOut", "include") : offer
        }
    }

    func view() -> WorklistsView.List {
        WorklistsView.List(
            app: scope.bundleID.text.description, environment: scope.environment.rawValue, kind: kind,
            includesHeldOut: includesHeldOut, address: page(of: "/lists"),
            withHeldOut: list.offer.map { _ in includingHeldOut(true).page(of: "/lists") })
    }

    private var kind: WorklistsView.Kind {
        switch list {
        case .offer(let terms, _):
            .offer(terms.offerID.text.description, productID: terms.productID.text.description)
        case .state(.billingRetry): .billingRetry
        case .state(.priceIncrease): .priceIncrease
        }
    }
}

extension WorklistView.Customer {
    /// - Parameter opens: true if the person may open the page of the customer.
    fileprivate init(_ customer: WorklistCustomer, in app: AppScope, opens: Bool) {
        let best = WorklistCustomer.names.compactMap(customer.name).first
        let identifier = best ?? .originalTransactionID(customer.originalTransactionID)
        self.init(
            identifier: String(decoding: identifier.utf8, as: UTF8.self),
            productID: customer.productID.text.description,
            status: customer.status.rawValue.replacing("_", with: " "), endsAt: customer.endsAt,
            storefront: customer.storefront, isHeldOut: customer.isHeldOut,
            page: opens ? CustomerAddress(app, identifier).page : nil)
    }
}

extension CustomerIdentifier.Kind {
    fileprivate var plural: String {
        switch self {
        case .appAccountToken: "Account tokens"
        case .applicationUsername: "Usernames"
        case .appTransactionID: "Apple Accounts (app transactions)"
        case .originalTransactionID: "Original transactions"
        case .transactionID: "Transactions"
        }
    }
}
