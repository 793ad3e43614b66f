import OfferAudit
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore
import SubscriberSync

/// `GET /audit`: what persons did in the console, and who granted what with the API: everybody for an auditor, otherwise
/// only oneself.
struct AuditPage: Sendable {
    let acts: ConsoleActs
    let store: CurrentStore
    /// The path of the audit trail; nil if there is none.
    let path: String?
    /// The maximum time that a search waits for a thread.
    let waitLimit: Duration
    private let search = Remembered<AuditSearch.Found?>(for: .zero)

    init(acts: ConsoleActs, store: CurrentStore, path: String?, waitLimit: Duration) {
        self.acts = acts
        self.store = store
        self.path = path
        self.waitLimit = waitLimit
    }

    private static let linesPerPage = 100

    static let fields = [
        FormReader.Field("person", maximumBytes: 400), FormReader.Field("customer", maximumBytes: 512),
        FormReader.Field("act", maximumBytes: 64),
        FormReader.Field("from", maximumBytes: 10), FormReader.Field("until", maximumBytes: 10),
        FormReader.Field("page", maximumBytes: 8),
    ]

    var route: ConsoleRoute { .page("/audit", for: .roles(ConsoleSection.audit.roles), Self.fields, answer) }

    @Sendable private func answer(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        guard let account = request.session?.account else { throw .signIn(nil) }
        let seesEveryone = account.consoleRoles.contains(.auditor)
        let values = request.values
        let filter = AuditView.Filter(
            person: values["person"] ?? "", customer: values["customer"] ?? "", act: values["act"] ?? "",
            from: values["from"] ?? "",
            until: values["until"] ?? "")
        let customer = seesEveryone ? (values["customer"] ?? "").trimmingSpaces : ""
        if seesEveryone {
            try await acts.record(.audit, request, customer: customer.isEmpty ? nil : Array(customer.utf8))
        }
        let codes = customer.isEmpty ? [] : try await codes(ofCustomer: customer, request)
        let searched = try await searched(request)
        let found = (searched?.lines ?? []).filter { line in
            (seesEveryone
                ? values["person"].map { $0.isEmpty || line.label.contains($0) } ?? true
                : line.isConsole && line.person == account.name && line.subject == account.subject)
                && (customer.isEmpty || line.customer.map(codes.contains) == true)
                && (values["act"].map { $0.isEmpty || line.kind == $0 } ?? true)
                && (values["from"].map { $0.isEmpty || request.clock.date(line.at) >= $0 } ?? true)
                && (values["until"].map { $0.isEmpty || request.clock.date(line.at) <= $0 } ?? true)
        }
        let pages = max(1, (found.count + Self.linesPerPage - 1) / Self.linesPerPage)
        let page = Int(values["page"] ?? "").flatMap { (1...pages).contains($0) ? $0 : nil } ?? 1
        let address = ["person", "customer", "act", "from", "until"].reduce(PageAddress("/audit")) { address, name in
            values[name].flatMap { $0.isEmpty ? nil : address.with(name, $0) } ?? address
        }
        func other(_ number: Int) -> PageAddress? {
            (1...pages).contains(number) ? address.with("page", String(number)) : nil
        }
        let lines = found.dropFirst((page - 1) * Self.linesPerPage).prefix(Self.linesPerPage)
        return .page(
            AuditView(
                frame: request.frame(at: address), lines: lines.map(AuditView.Line.init), filter: filter,
                acts: ConsoleAct.Kind.allCases.map(\.rawValue) + (seesEveryone ? Self.grantKinds : []),
                showsEveryone: seesEveryone, newer: other(page - 1),
                older: other(page + 1), reach: reach(searched)
            ).html)
    }

    /// The acts on grants by callers of the API.
    private static let grantKinds = [CustomerChange.Kind.grant, .grantApproval, .grantWithdrawal].map(\.rawValue)

    /// Returns the codes under which lines about a customer may be recorded. A look-up has the code of the text that was
    /// typed, and a grant often that of the Apple Account.
    private func codes(ofCustomer text: String, _ request: ConsoleRequest) async throws(ConsoleRefusal) -> Set<String> {
        // Account tokens are recorded in lower case.
        var names: Set<[UInt8]> = [Array(text.utf8), Array(text.lowercased().utf8)]
        do throws(StoreError) {
            for (bundleID, app) in request.policy.catalogue?.apps ?? [:] {
                for identifier in CustomerSearch(text).identifiers {
                    let stored = try await store.customers(known: identifier, bundleID: bundleID, environment: nil)
                    for customer in stored.compactMap({ OwnedCustomer($0, known: identifier, by: app.ownership) }) {
                        names.formUnion(customer.searchableNames.map(\.utf8))
                    }
                }
            }
        } catch { throw request.unavailable }
        return Set(names.compactMap { acts.trail?.code(of: $0) })
    }

    private func reach(_ found: AuditSearch.Found?) -> AuditView.Reach {
        guard let found else { return .nowhere }
        return found.since.map(AuditView.Reach.since) ?? .wholeFile
    }

    /// Returns the newest lines; nil if the trail cannot be searched. The search leaves the cores to decisions.
    private func searched(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> AuditSearch.Found? {
        guard let path else { return nil }
        do {
            return try await search.value(at: request.now) {
                let result = await BackgroundThreads.shared.run(within: waitLimit) {
                    Result { try AuditSearch.consoleLines(path: path) }
                }
                return try (result ?? .failure(CancellationError())).get()
            }
        } catch { throw request.unavailable }
    }
}

extension AuditSearch.Line {
    /// The name and, for a person of an identity provider, the identifier.
    fileprivate var label: String {
        guard isConsole else { return "\(person), with the API" }
        return subject.map { "\(person) (\($0))" } ?? person
    }

    private var offer: String? {
        guard let offerID else { return nil }
        return productID.map { "\(offerID) for \($0)" } ?? offerID
    }

    /// The offer, the reason and the identifier of a grant; nil for other lines.
    fileprivate var details: String? {
        guard let grant else { return offer }
        let maker = grant.maker == person || grant.maker == label ? "" : ", made by \(grant.maker)"
        return "\(offer.map { "\($0), " } ?? "")reason \(grant.reason), grant \(grant.id)\(maker)"
    }
}

extension OwnedCustomer {
    /// The identifiers under which people and callers may have named the customer.
    fileprivate var searchableNames: Set<CustomerIdentifier> {
        let own: [CustomerIdentifier?] = [
            appAccountToken.map(CustomerIdentifier.appAccountToken),
            applicationUsername.map(CustomerIdentifier.applicationUsername), recordedAs, grantedAs,
        ]
        let kinds: Set<SubscriberFact.Kind> = [.transaction, .receiptTransaction, .fetchedTransaction]
        let transactions = facts.filter { kinds.contains($0.key.kind) }.flatMap { fact -> [CustomerIdentifier] in
            [.transactionID(fact.key.id), .originalTransactionID(fact.originalTransactionID)]
        }
        return purchases.names.union(own.compactMap(\.self)).union(transactions)
    }
}

extension AuditView.Line {
    fileprivate convenience init(_ line: AuditSearch.Line) {
        let subject =
            line.alarm.map { "alarm \($0)" } ?? line.about ?? line.customer.map { "customer \($0.prefix(12))…" } ?? "–"
        let place = [line.bundleID, line.environment].compactMap(\.self).joined(separator: ", ")
        self.init(
            number: line.number, at: line.at, person: line.label,
            act: line.kind, subject: place.isEmpty ? subject : "\(subject) (\(place))", details: line.details,
            refusal: line.outcome == "accepted" ? nil : line.outcome)
    }
}
