import Logging
import OfferAudit
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore
import SubscriberSync

/// `GET /customer`: everything about one customer, and how the rules decide.
struct CustomerPage: Sendable {
    let directory: CustomerDirectory
    let store: CurrentStore
    let acts: ConsoleActs
    let log: Logger

    static let fields =
        CustomerAddress.fields + [
            FormReader.Field("autoRenew", maximumBytes: 8), FormReader.Field("factName", maximumBytes: 64),
            FormReader.Field("factValue", maximumBytes: 1024), FormReader.Field("page", maximumBytes: 8),
        ]

    var routes: [ConsoleRoute] {
        let access = ConsoleRoute.Access.roles(ConsoleSection.find.roles)
        return [
            .page("/customer", for: access, Self.fields, answer),
            .page("/customer.csv", for: access, CustomerAddress.fields + [Self.table], download),
        ]
    }

    private static let table = FormReader.Field("table", maximumBytes: 16)

    @Sendable private func answer(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let address = try CustomerAddress(request.values)
        let app = try request.app(address.app.bundleID)
        guard !request.isFromAnotherSite else {
            return FindPage.prefilled(address.identifier, of: address.app, request)
        }
        try await acts.record(.customer, request, app: address.app, customer: address.identifier.utf8)
        let whatIf = WhatIf(request.values)
        do throws(OfferService.Problem) {
            let customer = try await customer(at: address, app)
            let (verdicts, answer) = try await decide(address, app, whatIf, request)
            let view = CustomerView(
                customer, try await shown(to: customer), at: address, in: app, verdicts, answer, whatIf,
                page: Int(request.values["page"] ?? "") ?? 1, request)
            return .page(view.html)
        } catch { throw refusal(error, request) }
    }

    /// `GET /customer.csv`: a table of the page. It is a look-up like the page.
    @Sendable private func download(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let address = try CustomerAddress(request.values)
        let app = try request.app(address.app.bundleID)
        guard let table = request.values["table"].flatMap(CustomerTable.init) else { throw .problem(.notFound) }
        guard !request.isFromAnotherSite else {
            return FindPage.prefilled(address.identifier, of: address.app, request)
        }
        try await acts.record(.customer, request, app: address.app, customer: address.identifier.utf8)
        do throws(OfferService.Problem) {
            let customer = try await customer(at: address, app)
            let shown = try await shown(to: customer)
            let view = CustomerView(customer, shown, at: address, in: app, [], nil, WhatIf(), page: 1, request)
            let timeline = CustomerTimeline.entries(customer, shown, in: app, at: request.now)
            return .csv(table.csv(of: view, timeline: timeline), name: table.fileName)
        } catch { throw refusal(error, request) }
    }

    private func customer(
        at address: CustomerAddress, _ app: Catalogue.App
    ) async throws(OfferService.Problem) -> KnownCustomer {
        let found = try await directory.find(address.reference, of: app)
        guard let customer = found.customers.first(where: { $0.owned.app == address.app }) else { throw .notFound }
        return customer
    }

    /// Returns what the App Store was told to show to the customer.
    private func shown(to customer: KnownCustomer) async throws(OfferService.Problem) -> [RetentionShown] {
        let subscriptions = customer.owned.recordNames.compactMap { name -> TransactionID? in
            if case .originalTransactionID(let id) = name { id } else { nil }
        }
        do throws(StoreError) {
            return try await store.retentionShown(about: Set(subscriptions), in: customer.owned.app)
        } catch { throw .storeUnavailable }
    }

    /// Decides about every offer of the app, with the what-if and, if there is one, without it. In an environment that the
    /// configuration no longer has, there are no offers.
    private func decide(
        _ address: CustomerAddress, _ app: Catalogue.App, _ whatIf: WhatIf, _ request: ConsoleRequest
    ) async throws(OfferService.Problem) -> (verdicts: [OfferVerdict], answer: AppAnswer?) {
        guard app.environments.contains(address.app.environment) else { return ([], nil) }
        func decide(_ supposition: Supposition?) async throws(OfferService.Problem) -> CustomerDecision {
            try await CustomerDecision(
                about: address.identifier, of: app, address.app.bundleID, in: address.app.environment, productIDs: nil,
                supposing: supposition, store: store, at: request.now, log: log)
        }
        guard let supposition = whatIf.supposition else {
            let decision = try await decide(nil)
            return (decision.verdicts.map { OfferVerdict($0, isChanged: false) }, AppAnswer(decision))
        }
        let known = try await decide(nil).verdicts
        let decision = try await decide(supposition)
        let verdicts = decision.verdicts.map { verdict in
            let before = known.first { $0.offer == verdict.offer }
            return OfferVerdict(verdict, isChanged: before?.reasons.isEmpty != verdict.reasons.isEmpty)
        }
        return (verdicts, AppAnswer(decision))
    }

    private func refusal(_ problem: OfferService.Problem, _ request: ConsoleRequest) -> ConsoleRefusal {
        switch problem.code {
        case .notFound, .appNotServed: .problem(.notFound)
        case .storeUnavailable, .appStoreUnavailable: request.unavailable
        default: failed(problem, request)
        }
    }
}

extension CustomerPage {
    private func failed(_ problem: OfferService.Problem, _ request: ConsoleRequest) -> ConsoleRefusal {
        log.error(
            "the page of a customer failed",
            metadata: request.http.context.metadata(["code": "\(problem.code.rawValue)", "reason": "\(problem.detail)"])
        )
        return .problem(.failed(requestID: request.http.id.text))
    }
}

extension CustomerTable {
    /// The file name contains no customer identifier.
    fileprivate var fileName: StaticString {
        switch self {
        case .periods: "periods.csv"
        case .timeline: "timeline.csv"
        case .ledger: "ledger.csv"
        }
    }
}

extension WhatIf {
    convenience init(_ values: FormValues) {
        self.init(
            autoRenew: values["autoRenew"].flatMap(AutoRenew.init) ?? .asIs,
            factName: values["factName"] ?? "", factValue: values["factValue"] ?? "")
    }

    /// nil if nothing is supposed.
    var supposition: Supposition? {
        let renews: Bool? =
            switch autoRenew {
            case .asIs: nil
            case .on: true
            case .off: false
            }
        let fact = factName.isEmpty ? nil : Supposition.Fact(name: factName, value: TeamFactValue(typed: factValue))
        return renews == nil && fact == nil ? nil : Supposition(autoRenews: renews, fact: fact)
    }
}

extension TeamFactValue {
    /// The value that a person typed: `true`, `false`, a number or a text in quotation marks as in JSON, or else a text.
    fileprivate init(typed text: String) {
        switch text {
        case "true": self = .bool(true)
        case "false": self = .bool(false)
        default:
            switch try? JSONReader.read(Array(text.utf8)) {
            case .number(let digits): self = .number(digits)
            case .string(let utf8): self = .text(utf8)
            default: self = .text(Array(text.utf8))
            }
        }
    }

    /// The value as JSON writes it, but texts without quotation marks.
    var words: String {
        switch self {
        case .text(let utf8), .number(let utf8): String(decoding: utf8, as: UTF8.self)
        case .bool(let value): value ? "true" : "false"
        }
    }
}

extension AppAnswer {
    fileprivate init(_ decision: CustomerDecision) {
        self.init(
            state: decision.state?.rawValue, hasOffer: decision.hasOffer, alternative: decision.alternative)
    }
}

extension OfferVerdict {
    convenience init(_ verdict: CustomerDecision.Verdict, isChanged: Bool) {
        self.init(
            offerID: verdict.offer.offerID.text.description, productID: verdict.offer.productID.text.description,
            rule: verdict.offer.rule.name,
            reasons: verdict.reasons.map(Reason.init), isChanged: isChanged, terms: verdict.terms?.text)
    }
}

extension OfferVerdict.Reason {
    convenience init(_ reason: DecisionReason) {
        let (text, remedy) = reason.sentences
        self.init(text, remedy: remedy)
    }
}
