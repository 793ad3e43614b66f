package import Logging
package import OfferCore

/// The path of one request for an explanation, from its bytes to the bytes of the answer.
///
/// It is computed where the request arrived, on an event loop, for as long as ``Verifications`` allow.
package struct Explanations: Sendable {
    private let setup: CurrentSetup
    private let authenticator: Authenticator
    private let limiter: Limiter
    private let sha256: @Sendable ([UInt8]) throws -> [UInt8]
    private let now: @Sendable () -> Timestamp
    private let log: Logger

    package init(
        setup: CurrentSetup, authenticator: Authenticator, limiter: Limiter,
        sha256: @escaping @Sendable ([UInt8]) throws -> [UInt8], now: @escaping @Sendable () -> Timestamp, log: Logger
    ) {
        self.setup = setup
        self.authenticator = authenticator
        self.limiter = limiter
        self.sha256 = sha256
        self.now = now
        self.log = log
    }

    /// `POST /v1/explanations`: snapshot of the setup → requester → their limit → evidence → explanation.
    package func answer(_ request: IncomingRequest) throws(Problem) -> Answer {
        guard !request.isLate else { throw .overloaded }
        let setup = setup.snapshot
        let requester = try authenticator.requester(of: request, under: setup, needing: .explain)
        try limiter.admit(requester, under: setup.limits, request.context)
        let evidence = try Evidence(RequestMembers.read(request))
        if let apps = requester.apps,
            evidence.bundleIDs.isEmpty || !evidence.bundleIDs.allSatisfy({ isNamed($0, among: apps) })
        {
            log.notice(
                "signature not explained",
                metadata: request.context.metadata([
                    "reason": "the caller may not ask about this app", "caller": "\(requester.name)",
                ]))
            throw .offerNotServed
        }
        let explainer = Explainer(
            keys: setup.ring.candidateKeys(of: requester.apps),
            names: KnownNames(catalogue: setup.catalogue, choice: setup.ring.choice, allowed: requester.apps),
            issuerIDs: setup.issuerIDs, now: now(), sha256: sha256)
        do {
            let explanation = try explainer.explanation(of: evidence)
            log.debug(
                "signature explained",
                metadata: request.context.metadata(["cause": "\(explanation.cause?.rawValue ?? "-")"]))
            return Answer(body: explanation.body)
        } catch {
            log.error("verifying failed", metadata: request.context.metadata(["reason": "\(error)"]))
            throw .signingUnavailable
        }
    }

    /// Whether an app that was presented, perhaps with a mistake, is one of these.
    private func isNamed(_ app: [UInt8], among apps: Set<BundleID>) -> Bool {
        apps.contains { $0.text.utf8.isEqual(ignoringCaseOf: app.trimmed) }
    }
}
