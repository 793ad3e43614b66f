package import OfferCore

/// What an orchestrator asks: is the process there, and should it get requests.
package struct Health: Sendable {
    private let ring: CurrentKeyRing

    package init(ring: CurrentKeyRing) {
        self.ring = ring
    }

    package var live: Answer { Self.answer("live", status: 200) }

    /// 503 while no offer can be signed.
    package var ready: Answer {
        (try? ring.snapshot.signingKey()) != nil
            ? Self.answer("ready", status: 200) : Self.answer("degraded", status: 503)
    }

    private static func answer(_ word: String, status: Int) -> Answer {
        var writer = JSONWriter()
        writer.member("status", word)
        return Answer(status: status, body: writer.finish())
    }
}
