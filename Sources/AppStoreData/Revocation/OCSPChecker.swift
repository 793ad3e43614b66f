import NIOConcurrencyHelpers
package import OfferCore
package import OfferCrypto

/// Queries OCSP responders for the status of certificates, and remembers the answers.
///
/// Queries run in child tasks of ``run()``, so nothing outlives the service. At most one query about a certificate is open at a
/// time.
package final class OCSPChecker: Sendable {
    private let transport: OCSPTransport
    private let now: @Sendable () -> Int64
    private let onRevoked: @Sendable (X509Certificate) -> Void
    private let state = NIOLockedValueBox(OpenQuestions())
    private let questions: AsyncStream<RevocationQuestion>
    private let submit: AsyncStream<RevocationQuestion>.Continuation

    /// - Parameters:
    ///   - now: the time in seconds since 1970.
    ///   - onRevoked: called with each certificate found revoked, before any waiting caller is told.
    package init(
        transport: @escaping OCSPTransport, now: @escaping @Sendable () -> Int64,
        onRevoked: @escaping @Sendable (X509Certificate) -> Void
    ) {
        self.transport = transport
        self.now = now
        self.onRevoked = onRevoked
        (questions, submit) = AsyncStream.makeStream()
    }

    /// Sends queries until the task is cancelled. Then all open and all later queries fail. Call it once.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await question in questions {
                // The stream still delivers queries submitted before the cancellation.
                guard !Task.isCancelled else { break }
                group.addTask { await self.ask(question) }
            }
        }
        for waiter in state.withLockedValue({ $0.stop() }) { waiter.resume(returning: .unknown(.stopped)) }
    }

    /// Waits for the status of a chain, and throws unless its certificates are good. Known answers need no waiting.
    ///
    /// Cancelling the caller does not shorten the wait, because others may wait for the same answer. The transport's
    /// time limit does.
    package func check(_ chain: some CertificatePath) async throws(RevocationFailure) {
        guard let questions = chain.revocationQuestions else { return }
        async let leaf = outcome(of: questions.leaf)
        async let intermediate = outcome(of: questions.intermediate)
        try await RevocationFailure.throwUnlessGood(leaf: leaf, intermediate: intermediate)
    }

    /// The currently known status of a chain. Queries the rest in the background.
    package func cachedStatus(_ chain: some CertificatePath) -> CachedRevocationStatus {
        guard let questions = chain.revocationQuestions else { return .good }
        let leaf = outcomeNow(of: questions.leaf)
        let intermediate = outcomeNow(of: questions.intermediate)
        do throws(RevocationFailure) {
            try RevocationFailure.throwUnlessGood(leaf: leaf, intermediate: intermediate)
            return .good
        } catch {
            return error.isRetryable ? .notKnown(error) : .revoked(error)
        }
    }

    /// The certificates whose last query failed within the last hour, for the operator.
    package var problems: [Diagnostic] {
        let now = now()
        return state.withLockedValue { $0.memory.failures(at: now) }.map { subject, problem in
            Diagnostic(
                "it is unknown whether the certificate \(subject) has been revoked (\(problem))",
                hint: "check that the service can reach the OCSP responders over HTTP")
        }
        .sorted { $0.error < $1.error }
    }

    private func outcome(of question: RevocationQuestion) async -> OCSPOutcome {
        await withCheckedContinuation { waiter in
            let now = now()
            if let outcome = outcome(ofExpired: question, at: now) { return waiter.resume(returning: outcome) }
            switch state.withLockedValue({ $0.admit(question.id, waiter, at: now) }) {
            case .settled(let outcome): waiter.resume(returning: outcome)
            case .opened: submit.yield(question)
            case .joined: break
            }
        }
    }

    /// The known outcome of a query. If there is none, opens the query without waiting.
    private func outcomeNow(of question: RevocationQuestion) -> OCSPOutcome? {
        let now = now()
        if let outcome = outcome(ofExpired: question, at: now) { return outcome }
        switch state.withLockedValue({ $0.admit(question.id, nil, at: now) }) {
        case .settled(let outcome): return outcome
        case .opened: submit.yield(question)
        case .joined: break
        }
        return nil
    }

    /// Responders know nothing about an expired certificate, such as those of old data. It counts as good unless it was revoked
    /// before.
    private func outcome(ofExpired question: RevocationQuestion, at now: Int64) -> OCSPOutcome? {
        guard question.certificate.notAfter < now else { return nil }
        let answer = state.withLockedValue { $0.memory.answer(to: question.id, at: now) }
        return answer ?? .good(until: question.certificate.notAfter)
    }

    private func ask(_ question: RevocationQuestion) async {
        finish(question, await question.ask(by: transport, now: now))
    }

    private func finish(_ question: RevocationQuestion, _ outcome: OCSPOutcome) {
        let now = now()
        state.withLockedValue { $0.memory.note(outcome, of: question, at: now) }
        if case .revoked = outcome { onRevoked(question.certificate) }
        for waiter in state.withLockedValue({ $0.close(question.id) }) { waiter.resume(returning: outcome) }
    }
}

/// The status of a chain of certificates, as far as it is known without waiting.
package enum CachedRevocationStatus: Hashable, Sendable {
    case good
    case revoked(RevocationFailure)
    /// No answer is in force. The query is under way, or failed within the last minute.
    case notKnown(RevocationFailure)
}
