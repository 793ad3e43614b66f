import OfferAudit
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore

/// `GET /audit`: what persons did in the console: everybody for an auditor, otherwise only oneself.
struct AuditPage: Sendable {
    let acts: ConsoleActs
    /// The path of the audit trail; nil if there is none.
    let path: String?
    /// The maximum time that a search waits for a thread.
    let waitLimit: Duration
    private let search = Remembered<AuditSearch.Found?>(for: .zero)

    init(acts: ConsoleActs, path: String?, waitLimit: Duration) {
        self.acts = acts
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
        // Account tokens are recorded in lower case.
        let codes = Set([customer, customer.lowercased()].compactMap { acts.trail?.code(of: Array($0.utf8)) })
        let searched = try await searched(request)
        let found = (searched?.lines ?? []).filter { line in
            (seesEveryone
                ? values["person"].map { $0.isEmpty || line.label.contains($0) } ?? true
                : line.person == account.name && line.subject == account.subject)
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
                acts: ConsoleAct.Kind.allCases.map(\.rawValue), showsEveryone: seesEveryone, newer: other(page - 1),
                older: other(page + 1), reach: reach(searched)
            ).html)
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
    fileprivate var label: String { subject.map { "\(person) (\($0))" } ?? person }
}

extension AuditView.Line {
    fileprivate convenience init(_ line: AuditSearch.Line) {
        let subject =
            line.alarm.map { "alarm \($0)" } ?? line.about ?? line.customer.map { "customer \($0.prefix(12))…" } ?? "–"
        let place = [line.bundleID, line.environment].compactMap(\.self).joined(separator: ", ")
        self.init(
            number: line.number, at: line.at, person: line.label,
            act: line.kind, subject: place.isEmpty ? subject : "\(subject) (\(place))",
            refusal: line.outcome == "accepted" ? nil : line.outcome)
    }
}
