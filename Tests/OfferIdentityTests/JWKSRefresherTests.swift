import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import OfferIdentity
import OfferTelemetry
import TestSupport
import Testing

@Suite("JWKS refresher", .timeLimit(.minutes(30)))
struct JWKSRefresherTests {
    /// Returns the configured text, or waits for `answer`. Each text is a list of key IDs.
    private final class Source: KeySetSource {
        private struct State {
            var texts: [KeySetLocation: String] = [:]
            var waiting: [KeySetLocation: [CheckedContinuation<KeySetText, Never>]] = [:]
            var readings = 0
        }

        private let state = NIOLockedValueBox(State())

        func put(_ text: String?, at place: KeySetLocation) { state.withLockedValue { $0.texts[place] = text } }

        func isWaitedFor(_ place: KeySetLocation) -> Bool { state.withLockedValue { $0.waiting[place] != nil } }

        /// The number of texts that were parsed.
        var readings: Int { state.withLockedValue { $0.readings } }

        /// Returns `text` to all waiting reads.
        func answer(_ text: String, at place: KeySetLocation) {
            let waiting = state.withLockedValue { $0.waiting.removeValue(forKey: place) } ?? []
            for one in waiting { one.resume(returning: KeySetText(Array(text.utf8))) }
        }

        func text(at place: KeySetLocation) async throws(KeySetFault) -> KeySetText {
            let text = await withCheckedContinuation { continuation in
                let text = state.withLockedValue { state in
                    if state.texts[place] == nil { state.waiting[place, default: []].append(continuation) }
                    return state.texts[place]
                }
                if let text { continuation.resume(returning: KeySetText(Array(text.utf8))) }
            }
            guard text.bytes != Array("gone".utf8) else {
                throw KeySetFault(.unavailable, Diagnostic("\(place) is gone", hint: ""))
            }
            return text
        }

        func keys(
            in text: [UInt8], from place: KeySetLocation
        ) async throws(KeySetFault) -> (set: UserKeySet, problems: [Diagnostic]) {
            state.withLockedValue { $0.readings += 1 }
            guard text != Array("bad".utf8) else {
                throw KeySetFault(.unusable, Diagnostic("\(place) is bad", hint: ""))
            }
            let keys = text.split(separator: UInt8(ascii: " ")).map { id in
                UserKeySet.Key(id: Array(id), algorithm: .es256) { _, _ in true }
            }
            return (UserKeySet(keys), [])
        }

        func close() async {}
    }

    private let source = Source()
    private let keys = CurrentUserKeys()
    private let readiness = Readiness()
    private let issuers = NIOLockedValueBox<[UserIssuer]>([])
    private let log = RecordedLog()

    /// Puts these issuers in force.
    private func put(_ new: [UserIssuer]) { issuers.withLockedValue { $0 = new } }

    private static func issuer(at path: String) -> UserIssuer {
        UserIssuer(
            issuer: "i", audience: "a", keys: .file(path: path), algorithms: [.es256],
            customer: .applicationUsername("sub"), apps: nil)
    }

    /// The key IDs in force for the issuer whose keys are at `path`.
    private func names(at path: String = "a") -> [String]? {
        keys.set(of: Self.issuer(at: path))?.keys.map { String(decoding: $0.id ?? [], as: UTF8.self) }
    }

    private func whileRefreshing(
        lifetime: Duration = .seconds(3600), _ body: () async throws -> Void
    ) async throws {
        let refresher = JWKSRefresher(
            issuers: { [issuers] in issuers.withLockedValue { $0 } }, keys: keys, source: source, lifetime: lifetime,
            readiness: readiness, log: log.logger)
        let running = Task { try await refresher.run() }
        defer { running.cancel() }
        try await body()
    }

    private func wait(_ description: Comment, _ isSo: () -> Bool) async throws {
        for _ in 0..<1500 {
            if isSo() { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(isSo(), description)
    }

    @Test("an unusable set replaces the old one; an unavailable set does not")
    func badSet() async throws {
        let place = KeySetLocation.file(path: "a")
        source.put("one two", at: place)
        put([Self.issuer(at: "a")])
        try await whileRefreshing {
            try await wait("fetched") { names() == ["one", "two"] }
            source.put("gone", at: place)
            try await wait("reported") { readiness.problems.map(\.error) == ["a is gone"] }
            #expect(names() == ["one", "two"])
            source.put("bad", at: place)
            try await wait("removed") { names() == [] }
            #expect(readiness.problems.map(\.error) == ["a is bad"])
            let readings = source.readings
            try await Task.sleep(for: .milliseconds(2500))
            #expect(source.readings == readings, "the unchanged text is not parsed again")
            source.put("two", at: place)
            try await wait("back") { names() == ["two"] }
            #expect(readiness.problems == [])
        }
    }

    @Test("a set that is unavailable for too long expires")
    func lifetime() async throws {
        let issuer = Self.issuer(at: "a")
        source.put("one", at: issuer.keys)
        put([issuer])
        try await whileRefreshing(lifetime: .seconds(15)) {
            try await wait("fetched") { names() == ["one"] }
            // The set is read every second, so it does not expire.
            try await Task.sleep(for: .seconds(16))
            #expect(names() == ["one"] && readiness.problems == [])
            source.put("gone", at: issuer.keys)
            try await wait("reported") { readiness.problems.map(\.error) == ["a is gone"] }
            #expect(names() == ["one"])
            try await wait("gone") { names() == [] }
            #expect(readiness.problems.map(\.error).joined().contains("unavailable for too long"))
            source.put("one", at: issuer.keys)
            try await wait("back") { names() == ["one"] }
        }
    }

    @Test("a change of location drops an issuer's old keys at once, and the new ones apply as soon as they are read")
    func moved() async throws {
        let (old, new) = (Self.issuer(at: "old"), Self.issuer(at: "new"))
        source.put("one", at: old.keys)
        put([old])
        try await whileRefreshing {
            try await wait("fetched") { names(at: "old") == ["one"] }
            put([new])
            #expect(names(at: "new") == nil, "immediately after the change")
            try await wait("read") { source.isWaitedFor(new.keys) }
            #expect(names(at: "new") == nil)
            #expect(names(at: "old") == nil, "the old keys are freed")
            source.put("gone", at: new.keys)
            source.answer("gone", at: new.keys)
            try await wait("reported") { readiness.problems.map(\.error) == ["new is gone"] }
            #expect(names(at: "new") == nil)
            source.put("two", at: new.keys)
            try await wait("new") { names(at: "new") == ["two"] }
            // The old location is read again before its keys apply again.
            source.put(nil, at: old.keys)
            put([old])
            try await wait("read again") { source.isWaitedFor(old.keys) }
            #expect(names(at: "old") == nil)
            source.put("three", at: old.keys)
            source.answer("three", at: old.keys)
            try await wait("back") { names(at: "old") == ["three"] }
            put([])
            try await wait("forgotten") { names(at: "old") == nil }
        }
    }

    @Test("a late result of an abandoned read is ignored")
    func late() async throws {
        let issuer = Self.issuer(at: "a")
        put([issuer])
        try await whileRefreshing {
            try await wait("read") { source.isWaitedFor(issuer.keys) }
            put([])
            source.put("new", at: issuer.keys)
            // Long enough for two checks, after which the location has been dropped.
            try await Task.sleep(for: .milliseconds(2200))
            put([issuer])
            try await wait("new") { names() == ["new"] }
            source.answer("withdrawn", at: issuer.keys)
            try await Task.sleep(for: .milliseconds(500))
            #expect(names() == ["new"])
        }
    }
}
