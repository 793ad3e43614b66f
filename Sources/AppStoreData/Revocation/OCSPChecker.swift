import NIOConcurrencyHelpers
package import OfferCore
package import OfferCrypto

/// A checker that queries OCSP responders for the status of certificates and remembers the answers.
///
/// Queries run in child tasks of ``run()``, so no query outlives the service. At most one query about a certificate is
/// open at a time.
package final class OCSPChecker: Sendable {
    private let transport: OCSPTransport
    private let now: @Sendable () -> Int64
    private let onRevoked: @Sendable (X509Certificate) -> Void
    private let state = NIOLockedValueBox(OpenRequests())
    private let requests: AsyncStream<RevocationRequest>
    private let submit: AsyncStream<RevocationRequest>.Continuation

    /// - Parameters:
    ///   - now: returns the time in seconds since 1970.
    ///   - onRevoked: called with each revoked certificate, before the waiting callers receive the outcome.
    package init(
        transport: @escaping OCSPTransport, now: @escaping @Sendable () -> Int64,
        onRevoked: @escaping @Sendable (X509Certificate) -> Void
    ) {
        self.transport = transport
        self.now = now
        self.onRevoked = onRevoked
        (requests, submit) = AsyncStream.makeStream()
    }

    /// Sends queries until the task is cancelled. After that, all open and later queries fail. Call it once.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await request in requests {
                // The stream still delivers queries submitted before the cancellation.
                guard !Task.isCancelled else { break }
                group.addTask { await self.ask(request) }
            }
        }
        for waiter in state.withLockedValue({ $0.stop() }) { waiter.resume(returning: .unknown(.stopped)) }
    }

    /// Waits for the status of a chain, and throws unless its certificates are good. It does not wait for known
    /// answers.
    ///
    /// Cancelling the caller does not shorten the wait, because others may wait for the same answer. Only the
    /// transport's time limit ends the wait.
    package func check(_ chain: some CertificatePath) async throws(RevocationFailure) {
        guard let requests = chain.revocationRequests else { return }
        async let leaf = outcome(of: requests.leaf)
        async let intermediate = outcome(of: requests.intermediate)
        try await RevocationFailure.throwUnlessGood(leaf: leaf, intermediate: intermediate)
    }

    /// Returns the currently known status of a chain, and queries unknown statuses in the background.
    package func cachedStatus(_ chain: some CertificatePath) -> CachedRevocationStatus {
        guard let requests = chain.revocationRequests else { return .good }
        let leaf = outcomeNow(of: requests.leaf)
        let intermediate = outcomeNow(of: requests.intermediate)
        do throws(RevocationFailure) {
            try RevocationFailure.throwUnlessGood(leaf: leaf, intermediate: intermediate)
            return .good
        } catch {
            return error.isRetryable ? .notKnown(error) : .revoked(error)
        }
    }

    /// The certificates with a status query that failed in the last hour, for the operator.
    package var problems: [Diagnostic] {
        let now = now()
        return state.withLockedValue { $0.memory.failures(at: now) }.map { subject, problem in
            Diagnostic(
                "it is unknown whether the certificate \(subject) has been revoked (\(problem))",
                hint: "check that the service can reach the OCSP responders over HTTP")
        }
        .sorted { $0.error < $1.error }
    }

    private func outcome(of request: RevocationRequest) async -> OCSPOutcome {
        await withCheckedContinuation { waiter in
            let now = now()
            if let outcome = outcome(ofExpired: request, at: now) { return waiter.resume(returning: outcome) }
            switch state.withLockedValue({ $0.admit(request.id, waiter, at: now) }) {
            case .settled(let outcome): waiter.resume(returning: outcome)
            case .opened: submit.yield(request)
            case .joined: break
            }
        }
    }

    /// Returns the known outcome of a query. If there is none, opens the query without waiting.
    private func outcomeNow(of request: RevocationRequest) -> OCSPOutcome? {
        let now = now()
        if let outcome = outcome(ofExpired: request, at: now) { return outcome }
        switch state.withLockedValue({ $0.admit(request.id, nil, at: now) }) {
        case .settled(let outcome): return outcome
        case .opened: submit.yield(request)
        case .joined: break
        }
        return nil
    }

    /// Returns the outcome for an expired certificate, such as one in old data; nil for other certificates. Responders
    /// have no status for it, so it counts as good unless it was known to be revoked.
    private func outcome(ofExpired request: RevocationRequest, at now: Int64) -> OCSPOutcome? {
        guard request.certificate.notAfter < now else { return nil }
        let answer = state.withLockedValue { $0.memory.answer(to: request.id, at: now) }
        return answer ?? .good(until: request.certificate.notAfter)
    }

    private func ask(_ request: RevocationRequest) async {
        finish(request, await request.ask(by: transport, now: now))
    }

    private func finish(_ request: RevocationRequest, _ outcome: OCSPOutcome) {
        let now = now()
        state.withLockedValue { $0.memory.note(outcome, of: request, at: now) }
        if case .revoked = outcome { onRevoked(request.certificate) }
        for waiter in state.withLockedValue({ $0.close(request.id) }) { waiter.resume(returning: outcome) }
    }
}

/// The status of a chain of certificates, as far as it is known without waiting.
package enum CachedRevocationStatus: Hashable, Sendable {
    case good
    case revoked(RevocationFailure)
    /// No current answer is known. The query is under way, or failed within the last minute.
    case notKnown(RevocationFailure)
}
