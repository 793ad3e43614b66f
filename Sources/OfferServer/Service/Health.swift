package import OfferCore

/// What an orchestrator asks: is the process there, and should it get requests.
package struct Health: Sendable {
    private let ring: CurrentKeyRing
    private let readiness: Readiness

    package init(ring: CurrentKeyRing, readiness: Readiness) {
        self.ring = ring
        self.readiness = readiness
    }

    package var live: Answer { Self.answer("live") }

    /// Whether every key that is chosen is in service. `degraded` where all offers are signed, but something in the setup
    /// is wrong: a file that is no key, or a configuration that could not be put in force.
    package var ready: Answer {
        get throws(Problem) {
            guard !readiness.isStopping else { throw .stopping }
            guard ring.snapshot.missingFromService.isEmpty else { throw .notReady }
            let problems = readiness.problems.map(\.error)
            return problems.isEmpty ? Self.answer("ready") : Self.answer("degraded", problems: problems)
        }
    }

    private static func answer(_ word: String, problems: [String] = []) -> Answer {
        var writer = JSONWriter()
        writer.member("status", word)
        if !problems.isEmpty { writer.member("problems", problems) }
        return Answer(body: writer.finish())
    }
}
