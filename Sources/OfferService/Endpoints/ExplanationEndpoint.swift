import Logging
import OfferCore
import OfferExplanations
import OfferHTTP

/// `POST /v1/explanations`: explains a signature that StoreKit refused.
///
/// An explanation takes up to 14 ms to compute, so it runs on ``BackgroundThreads``, and only a bounded number of them waits.
struct ExplanationEndpoint: Sendable {
    private let threads: BackgroundThreads
    private let limit: LaneLimit
    private let now: @Sendable () -> Timestamp
    private let log: Logger

    /// The number of requests that may run or wait: about two seconds of work, and 4 MB of requests.
    private static let maximumRequests = 128

    init(threads: BackgroundThreads, now: @escaping @Sendable () -> Timestamp, log: Logger) {
        self.threads = threads
        limit = LaneLimit(Self.maximumRequests)
        self.now = now
        self.log = log
    }

    var handler: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            try await threads.run { Result { () throws(Problem) in try answer(request, admission) } }.get()
        }
    }

    private func answer(_ request: HTTPRequest, _ admission: Admission) throws(Problem) -> HTTPResponse {
        let evidence = try evidence(in: request)
        try requireApps(of: evidence, admission)
        let explainer = Explainer(
            policy: admission.policy, visibleApps: admission.principal.apps, now: now())
        do {
            let explanation = try explainer.explanation(of: evidence)
            log.debug(
                "signature explained",
                metadata: admission.context.metadata(["cause": "\(explanation.cause?.rawValue ?? "-")"]))
            return HTTPResponse(body: explanation.body)
        } catch {
            log.error("verification failed", metadata: admission.context.metadata(["reason": "\(error)"]))
            throw .signingUnavailable
        }
    }

    private func evidence(in request: HTTPRequest) throws(Problem) -> Evidence {
        let members = try RequestMembers.read(request)
        do { return try Evidence(members) } catch { throw Problem(error) }
    }

    /// A caller that is limited to some apps may ask only about those.
    private func requireApps(of evidence: Evidence, _ admission: Admission) throws(Problem) {
        guard let apps = admission.principal.apps else { return }
        guard evidence.bundleIDs.isEmpty || !evidence.bundleIDs.allSatisfy({ isNamed($0, among: apps) }) else { return }
        log.notice(
            "signature not explained",
            metadata: admission.context.metadata([
                "reason": "the caller may not ask about this app", "caller": "\(admission.principal.name)",
            ]))
        throw .offerNotServed
    }

    /// Whether a presented bundle ID, which may contain a mistake, names one of `apps`.
    private func isNamed(_ app: [UInt8], among apps: Set<BundleID>) -> Bool {
        apps.contains { $0.text.utf8.isEqual(ignoringCaseOf: app.trimmed) }
    }
}

extension Explainer {
    /// An explainer for the keys and names in force.
    /// - Parameter visibleApps: the apps whose keys and names the caller may learn of; nil for all.
    fileprivate init(policy: Policy, visibleApps: Set<BundleID>?, now: Timestamp) {
        self.init(
            keys: policy.ring.candidateKeys(of: visibleApps),
            names: KnownNames(catalogue: policy.catalogue, choice: policy.ring.choice, allowed: visibleApps),
            issuerIDs: policy.issuerIDs, now: now)
    }
}
