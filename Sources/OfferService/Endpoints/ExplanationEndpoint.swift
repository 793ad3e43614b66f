import Logging
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferExplanations
import OfferHTTP

/// `POST /v1/explanations`: explains a signature that StoreKit refused.
///
/// The search for a cause takes up to 14 ms, so it runs on ``BackgroundThreads``. The number of requests waiting for
/// them is bounded.
struct ExplanationEndpoint: Sendable {
    private let threads: BackgroundThreads
    private let waitLimit: Duration
    private let limit: LaneLimit
    private let limits: RequestLimits
    private let now: @Sendable () -> Timestamp
    private let log: Logger

    /// The maximum number of requests that run or wait: about two seconds of work and 4 MB of request bodies.
    private static let maximumRequests = 128

    /// - Parameter waitLimit: the maximum time to wait for a thread. It must leave enough of ``TimeLimit/later`` for
    ///   the search.
    init(
        threads: BackgroundThreads, waitLimit: Duration, limits: RequestLimits,
        now: @escaping @Sendable () -> Timestamp, log: Logger
    ) {
        self.threads = threads
        self.waitLimit = waitLimit
        limit = LaneLimit(Self.maximumRequests)
        self.limits = limits
        self.now = now
        self.log = log
    }

    var handler: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in try await answer(request, admission) }
    }

    private func answer(_ request: HTTPRequest, _ admission: Admission) async throws(Problem) -> HTTPResponse {
        let evidence = try evidence(in: request)
        try requireApps(of: evidence, admission)
        try limits.reserveExplanation(of: request, by: admission.principal, under: admission.policy)
        var verifications = 0
        defer {
            limits.settleExplanation(
                of: request, by: admission.principal, under: admission.policy, verifications: verifications)
        }
        // Only the search runs on these threads. While a thread waits for a core, it must not hold a lock that other
        // threads need, such as the log's.
        let search = await threads.run(within: waitLimit) {
            Result { try explainer(for: admission).explanation(of: evidence) }
        }
        guard let search else { throw .overloaded }
        do {
            let explanation = try search.get()
            verifications = explanation.verificationCount
            log.debug(
                "signature explained",
                metadata: admission.context.metadata(["cause": "\(explanation.cause?.rawValue ?? "-")"]))
            return HTTPResponse(body: explanation.body)
        } catch {
            log.error("verification failed", metadata: admission.context.metadata(["reason": "\(error)"]))
            throw .signingUnavailable
        }
    }

    /// Returns an explainer for the current keys and names, limited to those that the caller may learn about.
    private func explainer(for admission: Admission) -> Explainer {
        let (policy, apps) = (admission.policy, admission.principal.apps)
        return Explainer(
            keys: policy.ring.candidateKeys(of: apps),
            names: KnownNames(catalogue: policy.catalogue, choice: policy.ring.choice, allowed: apps),
            issuerIDs: policy.issuerIDs, now: now())
    }

    private func evidence(in request: HTTPRequest) throws(Problem) -> Evidence {
        let members = try RequestMembers.read(request)
        do { return try Evidence(members) } catch { throw Problem(error) }
    }

    /// If the caller is limited to certain apps, refuses evidence that names another app or no app.
    private func requireApps(of evidence: Evidence, _ admission: Admission) throws(Problem) {
        guard let apps = admission.principal.apps else { return }
        guard evidence.bundleIDs.isEmpty || !evidence.bundleIDs.allSatisfy({ isNamed($0, among: apps) }) else { return }
        log.notice(
            "signature not explained",
            metadata: admission.context.metadata([
                "reason": "the caller may not access this app", "caller": "\(admission.principal.name)",
            ]))
        throw .offerNotServed
    }

    /// Returns true if a bundle ID in the evidence names one of `apps`, ignoring letter case and surrounding white
    /// space.
    private func isNamed(_ app: [UInt8], among apps: Set<BundleID>) -> Bool {
        apps.contains { $0.text.utf8.isEqual(ignoringCaseOf: app.trimmed) }
    }
}
