import AppStoreAPI
import AppStoreData
import NIOConcurrencyHelpers
import NIOCore
package import OfferAudit
import OfferConfiguration
package import OfferCore
package import OfferEligibility
package import OfferHTTP
package import OfferTelemetry
import SubscriberStore
package import SubscriberSync
import Synchronization

/// The metrics that the service updates as events occur. ``MetricsPage`` adds the metrics that it looks up on request.
///
/// Counters are created once and kept, so counting takes one atomic addition and at most one dictionary look-up.
package final class ServiceMetrics: Sendable {
    private let registry = MetricRegistry()

    private let refusals: [Problem.Code: Counter]
    private let limited: [LimitedParty: Counter]
    private let signatures = NIOLockedValueBox<[SignedWith: SignedSeries]>([:])
    private let decisions = NIOLockedValueBox<[DecidedOn: Counter]>([:])
    private let reloads: [ReloadOutcome: Counter]
    private let grants: [GrantAct: Counter]
    private let listedCustomers: [String: Counter]
    private let purchases: [PurchaseOutcome: Counter]
    let factStatements: Counter
    private let shownLinks: [ShownLinkOutcome: Counter]
    private let linkPages: [LinkPageKind: Counter]
    private let preflights: [PreflightOutcome: Counter]
    private let signIns: [SignInWay: [SignInOutcome: Counter]]
    let signing: Histogram
    let verifying: Histogram
    let token: Histogram
    private let tokenRefusals: [TokenRefusal: Counter]
    let clockSteps: Counter
    let emailUsernames: Counter
    private let retentionRepeats: Counter
    private let retentionDeadlineMisses: Counter
    private let retentionSeconds: Histogram
    /// The metrics of the synchronisation that fills the store.
    package let sync: SyncMetrics
    package let audit: AuditMetrics
    package let connections: ConnectionMetrics

    package init() {
        let registry = registry
        // All counters are created at startup. A counter that appears with its first increment hides that increment
        // from rate().
        refusals = Self.each { registry.counter(.refusals, $0) }
        limited = Self.each { registry.counter(.limited, $0) }
        reloads = Self.each { registry.counter(.ringReloads, $0) }
        grants = Self.each { registry.counter(.grants, $0) }
        listedCustomers = Dictionary(
            uniqueKeysWithValues: (["offer"] + Worklist.State.allCases.map(\.rawValue)).map {
                ($0, registry.counter(.listedCustomers, $0))
            })
        purchases = Self.each { registry.counter(.purchases, $0) }
        factStatements = registry.counter(.factStatements)
        shownLinks = Self.each { registry.counter(.shownLinks, $0) }
        linkPages = Self.each { registry.counter(.linkPages, $0) }
        preflights = Self.each { registry.counter(.preflights, $0) }
        signIns = Dictionary(
            uniqueKeysWithValues: SignInWay.allCases.map { way in
                (way, Self.each { registry.counter(.consoleSignIns, way.rawValue, $0) })
            })
        signing = registry.histogram(.signing)
        verifying = registry.histogram(.verifying)
        token = registry.histogram(.token)
        tokenRefusals = Self.each { registry.counter(.tokenRefusals, $0) }
        emailUsernames = registry.counter(.emailUsernames)
        clockSteps = registry.counter(.clockSteps)
        retentionRepeats = registry.counter(.retentionRepeats)
        retentionDeadlineMisses = registry.counter(.retentionDeadlineMisses)
        retentionSeconds = registry.histogram(.retentionSeconds)
        sync = SyncMetrics(registry)
        audit = AuditMetrics(
            failures: registry.counter(.auditFailures), lag: registry.gauge(.auditLag),
            breaks: registry.counter(.auditBreaks), headLine: registry.gauge(.auditHeadLine),
            headHash: registry.gauge(.auditHeadHash))
        let open = registry.gauge(.connections)
        open.set(0)
        connections = ConnectionMetrics(
            open: open, evicted: registry.counter(.connectionsEvicted),
            relieved: registry.counter(.connectionsRelieved), refused: registry.counter(.connectionsRefused),
            failedHandshakes: registry.counter(.tlsHandshakeFailures))
    }

    private static func each<Key: CaseIterable & Hashable & RawRepresentable<String>>(
        _ make: (String) -> Counter
    ) -> [Key: Counter] {
        Dictionary(uniqueKeysWithValues: Key.allCases.map { ($0, make($0.rawValue)) })
    }

    /// Returns a route's response counters, by status.
    /// - Parameter statuses: the statuses that the route's responses may have.
    package func responses(
        of route: String, statuses: [Int] = [200, 202, 204] + Problem.statuses
    ) -> [Int: Counter] {
        Dictionary(
            uniqueKeysWithValues: statuses.map { status in
                (status, registry.counter(.requests, route, String(status)))
            })
    }

    /// Counts a problem with a request, or with one offer in a list.
    func refused(_ code: Problem.Code) { refusals[code]?.increment() }

    func limited(_ party: LimitedParty) { limited[party]?.increment() }

    /// Counts a signature that a token did not make in time.
    func refusedByToken(_ fault: SigningThreadsFault) { tokenRefusals[TokenRefusal(fault)]?.increment() }

    /// Counts a signature that was made and verified.
    /// - Parameter time: the timestamp of the signature.
    func signed(
        _ kind: SignatureKind, for app: BundleID, with key: KeyID, at time: Timestamp, under policy: Policy
    ) {
        let series = SignedWith(kind: kind, app: policy.names(app) ? app : nil, key: key)
        let known = signatures.withLockedValue { signatures in
            if let known = signatures[series] { return known }
            let app = series.app?.text.description ?? "other"
            let new = SignedSeries(counter: registry.counter(.signatures, kind.rawValue, app, key.description))
            signatures[series] = new
            return new
        }
        known.counter.increment()
        known.lastAt.max(time.milliseconds, ordering: .relaxed)
    }

    /// The timestamp of the last signature by each key that has signed since the process started.
    package var lastSignatures: [KeyID: Timestamp] {
        let all = signatures.withLockedValue { $0 }
        return Dictionary(
            all.map { ($0.key.key, Timestamp(milliseconds: $0.value.lastAt.load(ordering: .relaxed))) },
            uniquingKeysWith: max)
    }

    /// Counts decisions about the offers of one customer. A decision counts once for each different reason.
    func decided(_ all: [OfferDecision], of app: AppScope) {
        var missing: [DecidedOn] = []
        decisions.withLockedValue { decisions in
            for decision in all { decisions.count(.offer(decision.offer), decision.codes, of: app, &missing) }
        }
        countFirst(missing)
    }

    /// Counts a decision about an introductory offer, which has no offer ID.
    /// - Parameter codes: the different reasons against the offer; empty if the customer may have it.
    func decided(_ productID: ProductID, by rule: Rule, _ codes: [ReasonCode], of app: AppScope) {
        var missing: [DecidedOn] = []
        decisions.withLockedValue { decisions in
            decisions.count(.introductoryOffer(productID, rule: rule.name), codes, of: app, &missing)
        }
        countFirst(missing)
    }

    /// The maximum number of cached decision counters.
    private static let maximumSeries = 10_000

    /// Increments counters that may not exist yet.
    private func countFirst(_ series: [DecidedOn]) {
        for series in series {
            let (productID, offerID, rule) = series.subject.names
            let counter = registry.counter(
                .decisions, series.app.bundleID.text.description, series.app.environment.rawValue,
                productID.text.description, offerID?.text.description ?? "", rule ?? "",
                series.reason?.rawValue ?? "eligible")
            decisions.withLockedValue { decisions in
                // A reload can change the terms. The counters of the old terms stay in the registry.
                if decisions.count >= Self.maximumSeries { decisions.removeAll() }
                decisions[series] = counter
            }
            counter.increment()
        }
    }

    /// Counts the ledger's answer about an offer.
    func reserved(_ answer: LedgerResult, _ offer: OfferTerms, of app: AppScope) {
        let outcome =
            switch answer {
            case .allowed: "allowed"
            case .reserved, .reservedFirst: "reserved"
            case .refused(let codes): codes.first?.rawValue ?? ""
            case .takenOver: "taken_over"
            }
        registry.counter(
            .reservations, app.bundleID.text.description, app.environment.rawValue,
            offer.productID.text.description, offer.offerID.text.description, outcome
        ).increment()
    }

    enum KeyedAnswer: String {
        case first, repeated
        case takenOver = "taken_over"
    }

    /// Counts a request with an `Idempotency-Key`.
    func answered(_ answer: KeyedAnswer) { registry.counter(.keyedRequests, answer.rawValue).increment() }

    enum PreflightOutcome: String, CaseIterable { case permitted, refused }

    /// Counts a browser's question whether a web page may call a route.
    func answeredPreflight(_ outcome: PreflightOutcome) { preflights[outcome]?.increment() }

    enum GrantAct: String, CaseIterable {
        case made, approved, withdrawn
        /// Above the budget of the person, so a second person must approve it.
        case waiting
    }

    /// Counts customers whom a part of a list names.
    package func listed(_ count: Int, on list: Worklist) {
        let name = if case .state(let state) = list { state.rawValue } else { "offer" }
        listedCustomers[name]?.increment(by: count)
    }

    /// The result of a transaction that an app or a backend shows, or of a request that shows some.
    enum PurchaseOutcome: String, CaseIterable {
        case stored
        case notStored = "not_stored"
        case refused
    }

    func purchase(_ outcome: PurchaseOutcome) { purchases[outcome]?.increment() }

    /// The result of a link in a request.
    enum ShownLinkOutcome: String, CaseIterable {
        case campaign
        case claimed
        case repeated
        case unknown
        case expired
        case anotherCustomers = "another_customer"
    }

    func shownLink(_ outcome: ShownLinkOutcome) { shownLinks[outcome]?.increment() }

    /// An answer at the address of links.
    enum LinkPageKind: String, CaseIterable {
        case campaign
        case personal
        case ended
        case unknown
        case association
    }

    func linkPage(_ kind: LinkPageKind) { linkPages[kind]?.increment() }

    func granted(_ act: GrantAct) { grants[act]?.increment() }

    /// Counts an event that an app reported.
    func reported(_ event: OfferEvent, of app: BundleID) {
        registry.counter(.offerEvents, app.text.description, event.kind.rawValue).increment()
    }

    /// Counts the new exposures of a request. For a held-out offer, the limits are not known here.
    /// - Parameter answers: the ledger's answer for each offer of the request.
    func exposed(_ request: LedgerRequest, _ answers: [LedgerResult]) {
        var exposures = request.exposures
        for (offer, answer) in zip(request.offers, answers) where answer.isReserved { exposures += offer.exposures }
        for offer in request.heldOut
        where request.reserving == .all || !answers.prefix(offer.place).contains(where: \.isReserved) {
            exposures += offer.exposures
        }
        for exposure in exposures {
            registry.counter(
                .exposures, request.app.bundleID.text.description, request.app.environment.rawValue,
                exposure.productID.text.description, exposure.offerID?.text.description ?? "", exposure.arm.rawValue,
                exposure.source.channel.rawValue
            ).increment()
        }
    }

    /// - Parameter duration: the time since the first byte of the request.
    func answeredRetention(after duration: TimeAmount) { retentionSeconds.record(nanoseconds: duration.nanoseconds) }

    /// Counts a request for a retention message that got the answer of an earlier one.
    func repeatedRetention() { retentionRepeats.increment() }

    enum RetentionRecordOutcome: String, CaseIterable { case kept, lost }

    /// Counts an answer that was to be kept for reports.
    func recordedRetention(_ outcome: RetentionRecordOutcome) {
        registry.counter(.retentionRecords, outcome.rawValue).increment()
    }

    /// Counts an answer to a request for a retention message.
    /// - Parameters:
    ///   - kind: the kind of message shown. `kind` and `reason` each have a closed list of values.
    ///   - rule: the name of the rule that applied; nil if there is none.
    func decidedRetention(_ kind: String, by rule: String?, _ reason: String, of app: AppScope) {
        registry.counter(
            .retentionAnswers, app.bundleID.text.description, app.environment.rawValue, kind, rule ?? "", reason
        ).increment()
    }

    func missedRetentionDeadline() { retentionDeadlineMisses.increment() }

    // These events are rare, so their counters are looked up by name.

    /// - Parameter app: an app for which the configuration allows unbound JWS.
    func signedUnbound(for app: BundleID) { registry.counter(.unboundJWS, app.text.description).increment() }

    func selfVerificationFailed(of key: KeyID) {
        registry.counter(.selfVerificationFailures, key.description).increment()
    }

    /// Counts a sign-in to the console.
    package func signedIn(_ way: SignInWay, _ outcome: SignInOutcome) { signIns[way]?[outcome]?.increment() }

    func reloaded(_ isApplied: Bool) { reloads[isApplied ? .applied : .refused]?.increment() }

    package func write(_ metric: Metric, to text: inout ExpositionText) { registry.write(metric, to: &text) }
}

/// The party whose rate limit was exceeded.
enum LimitedParty: String, CaseIterable {
    case caller, user, customer, address, notifier, explanation
}

/// The reason that a token made no signature in time.
private enum TokenRefusal: String, CaseIterable {
    case full, waited
    case noAnswer = "no_answer"

    init(_ fault: SigningThreadsFault) {
        self =
            switch fault {
            case .full: .full
            case .waitedTooLong: .waited
            case .noAnswer: .noAnswer
            }
    }
}

/// The outcome of a reload of keys or configuration.
enum ReloadOutcome: String, CaseIterable {
    case applied, refused
}

private struct DecidedOn: Hashable {
    enum Subject: Hashable {
        case offer(OfferTerms)
        case introductoryOffer(ProductID, rule: String?)

        var names: (ProductID, OfferID?, rule: String?) {
            switch self {
            case .offer(let terms): (terms.productID, terms.offerID, terms.rule.name)
            case .introductoryOffer(let productID, let rule): (productID, nil, rule)
            }
        }
    }

    let app: AppScope
    let subject: Subject
    /// nil if the customer may have the offer.
    var reason: ReasonCode?

    /// Hashes only the offer ID, which usually differs between the offers of a decision. An offer has few different
    /// reasons, so comparing them costs less than hashing them.
    func hash(into hasher: inout Hasher) {
        if case .offer(let terms) = subject { hasher.combine(terms.offerID) }
    }
}

extension [DecidedOn: Counter] {
    /// Counts each reason, or eligibility if there is none. Series without a counter are appended to `missing`.
    fileprivate func count(
        _ subject: DecidedOn.Subject, _ codes: [ReasonCode], of app: AppScope, _ missing: inout [DecidedOn]
    ) {
        // No list of series is made: most decisions have one reason, and a request may have hundreds of decisions.
        var series = DecidedOn(app: app, subject: subject, reason: codes.first)
        for place in 0..<Swift.max(1, codes.count) {
            if place > 0 { series.reason = codes[place] }
            if let counter = self[series] { counter.increment() } else { missing.append(series) }
        }
    }
}

private final class SignedSeries: Sendable {
    let counter: Counter
    /// The timestamp of the last signature, in milliseconds.
    let lastAt = Atomic<Int64>(0)

    init(counter: Counter) { self.counter = counter }
}

private struct SignedWith: Hashable {
    let kind: SignatureKind
    /// nil for every app that the configuration does not name.
    let app: BundleID?
    let key: KeyID

    /// Omits the key, because an app rarely changes its key, and hashing it would take time.
    func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(app)
    }
}

extension Policy {
    /// Returns true if the configuration names the app. All other apps share one series, so that clients cannot create
    /// new series.
    /// - Parameter app: an app for which something was signed. If there is a catalogue, it contains the app.
    fileprivate func names(_ app: BundleID) -> Bool {
        catalogue != nil || !ring.choice.ofApps.isEmpty && ring.choice.ofApps[app] != nil
    }
}
