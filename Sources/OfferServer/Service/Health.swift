package import OfferCore

/// What an orchestrator asks: is the process there, and should it get requests.
package struct Health: Sendable {
    private let ring: CurrentKeyRing

    package init(ring: CurrentKeyRing) {
        self.ring = ring
    }

    package var live: Answer { Self.answer("live") }

    /// Whether every key that is chosen is in service.
    package var ready: Answer {
        get throws(Problem) {
            guard ring.snapshot.missingFromService.isEmpty else { throw .notReady }
            return Self.answer("ready")
        }
    }

    private static func answer(_ word: String) -> Answer {
        var writer = JSONWriter()
        writer.member("status", word)
        return Answer(body: writer.finish())
    }
}
