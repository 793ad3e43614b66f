import FoundationEssentials
package import OfferCore

/// What an orchestrator asks: is the process there, and should it get requests.
package struct Health: Sendable {
    private let setup: CurrentSetup
    private let certificate: CurrentCertificate
    private let readiness: Readiness
    private let trail: AuditTrail?
    private let selfTest: SelfTest?
    private let earliest: Timestamp
    private let now: @Sendable () -> Timestamp
    private let authenticator: Authenticator

    /// - Parameters:
    ///   - selfTest: nil where the cryptography is not tested.
    ///   - earliest: of all times that a clock can rightly show; see ``ClockCheck/earliest``.
    ///   - authenticator: tells who may know more than whether there is something wrong.
    package init(
        setup: CurrentSetup, certificate: CurrentCertificate, readiness: Readiness, trail: AuditTrail? = nil,
        selfTest: SelfTest? = nil, earliest: Timestamp = .min, now: @escaping @Sendable () -> Timestamp,
        authenticator: Authenticator
    ) {
        self.setup = setup
        self.certificate = certificate
        self.readiness = readiness
        self.trail = trail
        self.selfTest = selfTest
        self.earliest = earliest
        self.now = now
        self.authenticator = authenticator
    }

    package var live: Answer {
        var writer = JSONWriter()
        writer.member("status", "live")
        return Answer(body: writer.finish())
    }

    /// Whether everything can be signed that should be, and what is wrong if not, or beside that.
    /// - Parameter isOpen: whether whoever can ask may know everything.
    func ready(for request: IncomingRequest, isOpen: Bool) throws(Problem) -> Answer {
        let setup = setup.snapshot
        let states = states(under: setup)
        let problems = problems
        let isTrusted = isOpen || isAuthorised(request, under: setup)
        let report = HealthReport(
            states: states,
            details: isTrusted ? HealthReport.Details(activeKeys: setup.ring.active, problems: problems) : nil)
        if let refusal = refusal(states) { throw .unready(refusal, report) }
        var writer = JSONWriter()
        writer.member("status", problems.isEmpty && !states.values.contains(.degraded) ? "ready" : "degraded")
        report.write(to: &writer)
        return Answer(body: writer.finish())
    }

    /// Whether ``ready(for:isOpen:)`` is an answer and no problem.
    var isReady: Bool { refusal(states(under: setup.snapshot)) == nil }

    /// Whether there is a trail, and it can be written.
    var isAuditWritable: Bool? { trail.map { $0.fault == nil } }

    /// What is wrong while offers are signed.
    var problems: [SetupProblem] {
        readiness.problems + [readiness.hangingDisk, certificate.problem(at: .now)].compactMap(\.self)
    }

    /// Unix time in seconds; nil without TLS.
    var certificateExpiry: Double? { certificate.expiry?.timeIntervalSince1970 }

    private func states(under setup: Setup) -> [HealthReport.Check: HealthReport.State] {
        Dictionary(uniqueKeysWithValues: HealthReport.Check.allCases.map { ($0, state(of: $0, under: setup)) })
    }

    private func state(of check: HealthReport.Check, under setup: Setup) -> HealthReport.State {
        switch check {
        case .keys:
            guard setup.ring.activeOutOfService.isEmpty else { return .failed }
            return readiness.hasProblem(from: .keys) || readiness.hangingDisk != nil ? .degraded : .ok
        case .selfTest:
            guard let selfTest else { return .off }
            return selfTest.holds ? .ok : .failed
        case .audit:
            guard let trail else { return .off }
            guard trail.fault == nil else { return .failed }
            return readiness.hasProblem(from: .audit) ? .degraded : .ok
        case .clock:
            guard now() >= earliest else { return .failed }
            return readiness.hasProblem(from: .clock) ? .degraded : .ok
        case .catalogue:
            guard setup.catalogue != nil else { return .off }
            return readiness.isNewestInForce ? .ok : .degraded
        }
    }

    /// What whoever asks for an offer would hear, the widest first.
    private func refusal(_ states: [HealthReport.Check: HealthReport.State]) -> Problem? {
        if readiness.isStopping { return .stopping }
        if states[.clock] == .failed { return .clockWrong }
        if states[.audit] == .failed { return .auditUnavailable }
        return states.values.contains(.failed) ? .notReady : nil
    }

    /// Whether the one who asks may see the metrics as well. A token that is no good only leaves the details out: if it were
    /// refused, every instance would seem to be down on the day on which the token of a probe expires.
    private func isAuthorised(_ request: IncomingRequest, under setup: Setup) -> Bool {
        guard !setup.callers.isEmpty else { return true }
        // Whoever brings no token tries none out, and no limit counts it.
        guard request.authorization != nil else { return false }
        return (try? authenticator.requester(of: request, under: setup, needing: .metrics)) != nil
    }
}
