package import CoreMetrics
import NIOConcurrencyHelpers
import OfferCore

/// What the service counts as it happens. What can be looked up when somebody asks, ``MetricsPage`` looks up then.
///
/// Handles are made once: to count something is one atomic addition, and for signatures a look into a dictionary.
///
/// To add a metric, put it into ``Metric/all``, and beside the others here a property for its handle.
package final class ServiceMetrics: Sendable {
    private let registry = MetricRegistry()

    private let requests: [RouteAndStatus: Counter]
    private let refusals: [Problem.Code: Counter]
    private let limited: [LimitedParty: Counter]
    private let signatures = NIOLockedValueBox<[SignedWith: Counter]>([:])
    /// How long a signature took to make, and then to verify.
    let signing: CoreMetrics.Timer
    let verifying: CoreMetrics.Timer
    private let ringReloads: [ReloadOutcome: Counter]
    let clockSteps: Counter
    package let auditFailures: Counter
    /// Entries that wait; until it is set for the first time there is none.
    package let auditLag: Meter
    package let connections: Meter
    package let connectionsEvicted: Counter
    package let tlsHandshakeFailures: Counter

    package init() {
        let registry = registry
        // All of them from the start: a counter that begins with its first count hides that one from a rate.
        requests = Dictionary(
            uniqueKeysWithValues: RouteAndStatus.all.map {
                ($0, registry.counter(.requests, $0.route.rawValue, String($0.status)))
            })
        refusals = Self.each { registry.counter(.refusals, $0) }
        limited = Self.each { registry.counter(.limited, $0) }
        ringReloads = Self.each { registry.counter(.ringReloads, $0) }
        signing = registry.timer(.signing)
        verifying = registry.timer(.verifying)
        clockSteps = registry.counter(.clockSteps)
        auditFailures = registry.counter(.auditFailures)
        auditLag = registry.gauge(.auditLag)
        connections = registry.gauge(.connections)
        connections.set(0)
        connectionsEvicted = registry.counter(.connectionsEvicted)
        tlsHandshakeFailures = registry.counter(.tlsHandshakeFailures)
    }

    private static func each<Key: CaseIterable & Hashable & RawRepresentable<String>>(
        _ make: (String) -> Counter
    ) -> [Key: Counter] {
        Dictionary(uniqueKeysWithValues: Key.allCases.map { ($0, make($0.rawValue)) })
    }

    /// A request got its answer.
    func answered(_ route: Route, status: Int) {
        requests[RouteAndStatus(route: route, status: status)]?.increment()
    }

    /// A request, or an offer of a list, got a problem.
    func refused(_ code: Problem.Code) { refusals[code]?.increment() }

    func limited(_ party: LimitedParty) { limited[party]?.increment() }

    /// A signature was made and verified.
    func signed(_ kind: SignatureKind, for app: BundleID, with key: KeyID, under setup: Setup) {
        let series = SignedWith(kind: kind, app: setup.names(app) ? app : nil, key: key)
        let counter = signatures.withLockedValue { signatures in
            if let known = signatures[series] { return known }
            let app = series.app?.text.description ?? "other"
            let new = registry.counter(.signatures, kind.rawValue, app, key.description)
            signatures[series] = new
            return new
        }
        counter.increment()
    }

    // Rare enough to be looked up by name.

    /// - Parameter app: one whose setup allows it by name.
    func signedUnbound(for app: BundleID) { registry.counter(.unboundJWS, app.text.description).increment() }

    func selfVerificationFailed(of key: KeyID) {
        registry.counter(.selfVerificationFailures, key.description).increment()
    }

    func reloaded(_ outcome: ReloadOutcome) { ringReloads[outcome]?.increment() }

    package func write(_ metric: Metric, to text: inout ExpositionText) { registry.write(metric, to: &text) }
}

/// Whose limit was reached.
enum LimitedParty: String, CaseIterable {
    case caller, user, customer, address
}

/// What came of reading keys or configuration again.
enum ReloadOutcome: String, CaseIterable {
    case applied, refused
}

private struct RouteAndStatus: Hashable {
    let route: Route
    let status: Int

    static var all: [RouteAndStatus] {
        let statuses = Set(Problem.Code.allCases.map(\.status)).union([200]).sorted()
        return Route.allCases.flatMap { route in statuses.map { RouteAndStatus(route: route, status: $0) } }
    }
}

private struct SignedWith: Hashable {
    let kind: SignatureKind
    /// nil for any that the setup does not name.
    let app: BundleID?
    let key: KeyID

    /// An app changes its key seldom, so the key would only cost time here.
    func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(app)
    }
}

extension Setup {
    /// Whether the operator has named the app, and not somebody who asks.
    /// - Parameter app: one that something was signed for: with a catalogue, an app that is in it.
    fileprivate func names(_ app: BundleID) -> Bool {
        catalogue != nil || !ring.choice.ofApps.isEmpty && ring.choice.ofApps[app] != nil
    }
}
