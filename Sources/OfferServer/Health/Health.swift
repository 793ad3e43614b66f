import FoundationEssentials
package import OfferCore

/// What an orchestrator asks: is the process there, and should it get requests.
package struct Health: Sendable {
    private let setup: CurrentSetup
    private let certificate: CurrentCertificate
    private let readiness: Readiness
    private let trail: AuditTrail?

    package init(
        setup: CurrentSetup, certificate: CurrentCertificate, readiness: Readiness, trail: AuditTrail? = nil
    ) {
        self.setup = setup
        self.certificate = certificate
        self.readiness = readiness
        self.trail = trail
    }

    /// The log has them all.
    private static let maximumProblems = 50

    package var live: Answer {
        var writer = JSONWriter()
        writer.member("status", "live")
        return Answer(body: writer.finish())
    }

    /// Whether ``ready`` is an answer and no problem.
    var isReady: Bool { !readiness.isStopping && setup.snapshot.ring.activeOutOfService.isEmpty }

    /// What is wrong with the setup while offers are signed.
    var problems: [SetupProblem] {
        readiness.problems + [readiness.hangingDisk, certificate.problem(at: .now)].compactMap(\.self)
    }

    /// Unix time in seconds; nil without TLS.
    var certificateExpiry: Double? { certificate.expiry?.timeIntervalSince1970 }

    /// Whether every key that is chosen is in service, and which they are. `degraded` where all offers are signed, but
    /// something in the setup is wrong: a file that is no key, or a configuration that could not be put in force.
    package var ready: Answer {
        get throws(Problem) {
            guard !readiness.isStopping else { throw .stopping }
            guard trail?.fault == nil else { throw .auditUnavailable }
            let ring = setup.snapshot.ring
            guard ring.activeOutOfService.isEmpty else { throw .notReady }
            let problems = problems
            var writer = JSONWriter()
            writer.member("status", problems.isEmpty ? "ready" : "degraded")
            writer.member("activeKeys", ring.active.map(\.description))
            if !problems.isEmpty { writer.member("problems", problems.prefix(Self.maximumProblems).map(\.error)) }
            return Answer(body: writer.finish())
        }
    }
}
