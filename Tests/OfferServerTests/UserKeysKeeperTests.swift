import NIOConcurrencyHelpers
import OfferCore
import OfferServer
import TestSupport
import Testing

@Suite("Key sets looked after", .timeLimit(.minutes(5)))
struct UserKeysKeeperTests {
    /// Gives the answers that it is told to, and where it has none, waits for one. A text is the names of keys.
    private final class Source: KeySetSource {
        private struct State {
            var texts: [KeySetPlace: String] = [:]
            var waiting: [KeySetPlace: [CheckedContinuation<KeySetText, Never>]] = [:]
            var readings = 0
        }

        private let state = NIOLockedValueBox(State())

        func put(_ text: String?, at place: KeySetPlace) { state.withLockedValue { $0.texts[place] = text } }

        func isWaitedFor(_ place: KeySetPlace) -> Bool { state.withLockedValue { $0.waiting[place] != nil } }

        /// How many texts have been worked out.
        var readings: Int { state.withLockedValue { $0.readings } }

        /// Answers those who wait.
        func answer(_ text: String, at place: KeySetPlace) {
            let waiting = state.withLockedValue { $0.waiting.removeValue(forKey: place) } ?? []
            for one in waiting { one.resume(returning: KeySetText(Array(text.utf8))) }
        }

        func text(at place: KeySetPlace) async throws(KeySetFault) -> KeySetText {
            let text = await withCheckedContinuation { continuation in
                let text = state.withLockedValue { state in
                    if state.texts[place] == nil { state.waiting[place, default: []].append(continuation) }
                    return state.texts[place]
                }
                if let text { continuation.resume(returning: KeySetText(Array(text.utf8))) }
            }
            guard text.bytes != Array("gone".utf8) else {
                throw KeySetFault(.notHad, SetupProblem("\(place) is gone", hint: ""), detail: "why")
            }
            return text
        }

        func keys(
            in text: [UInt8], from place: KeySetPlace
        ) async throws(KeySetFault) -> (set: UserKeySet, problems: [SetupProblem]) {
            state.withLockedValue { $0.readings += 1 }
            guard text != Array("bad".utf8) else {
                throw KeySetFault(.bad, SetupProblem("\(place) is bad", hint: ""))
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
    private let setup: CurrentSetup
    private let log = RecordedLog()

    init() throws {
        setup = CurrentSetup(try Self.setup([]))
    }

    private static func setup(_ issuers: [UserIssuer]) throws -> Setup {
        Setup(
            ring: KeyRing(active: KeyRing.Key(id: try Fixtures.keyID(), pair: try Fixtures.makeSigningKey())),
            callers: Callers([], userIssuers: issuers))
    }

    private static func issuer(at path: String) -> UserIssuer {
        UserIssuer(
            issuer: "i", audience: "a", keys: .file(path: path), algorithms: [.es256],
            customer: .applicationUsername("sub"), apps: nil)
    }

    private func names() -> [String]? {
        keys.set(of: Self.issuer(at: ""))?.keys.map { String(decoding: $0.id ?? [], as: UTF8.self) }
    }

    private func whileLookedAfter(
        lifetime: Duration = .seconds(3600), _ body: () async throws -> Void
    ) async throws {
        let keeper = UserKeysKeeper(
            setup: setup, keys: keys, source: source, lifetime: lifetime, readiness: readiness, log: log.logger)
        let running = Task { try await keeper.run() }
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

    @Test("a set that is bad takes the old one with it, one that cannot be had does not")
    func badSet() async throws {
        let place = KeySetPlace.file(path: "a")
        source.put("one two", at: place)
        setup.replace(with: try Self.setup([Self.issuer(at: "a")]))
        try await whileLookedAfter {
            try await wait("had") { names() == ["one", "two"] }
            source.put("gone", at: place)
            try await wait("told") { readiness.problems.map(\.error) == ["a is gone"] }
            #expect(names() == ["one", "two"])
            #expect(log.text.contains("debug users' keys not had"))
            source.put("bad", at: place)
            try await wait("taken away") { names() == [] }
            #expect(readiness.problems.map(\.error) == ["a is bad"])
            let readings = source.readings
            try await Task.sleep(for: .milliseconds(2500))
            #expect(source.readings == readings, "it is remembered")
            source.put("two", at: place)
            try await wait("back") { names() == ["two"] }
            #expect(readiness.problems == [])
        }
    }

    @Test("a set that cannot be had for too long goes as well, also where it is that of another place")
    func lifetime() async throws {
        let (old, new) = (Self.issuer(at: "old"), Self.issuer(at: "new"))
        source.put("one", at: old.keys)
        setup.replace(with: try Self.setup([old]))
        try await whileLookedAfter(lifetime: .seconds(15)) {
            try await wait("had") { names() == ["one"] }
            // It is had every second.
            try await Task.sleep(for: .seconds(16))
            #expect(names() == ["one"] && readiness.problems == [])
            source.put("gone", at: old.keys)
            try await wait("told") { readiness.problems.map(\.error) == ["old is gone"] }
            #expect(names() == ["one"])
            try await wait("gone") { names() == [] }
            #expect(readiness.problems.map(\.error).joined().contains("could not be had for too long"))

            source.put("one", at: old.keys)
            try await wait("back") { names() == ["one"] }
            source.put("gone", at: new.keys)
            setup.replace(with: try Self.setup([new]))
            try await wait("told") { readiness.problems.map(\.error) == ["new is gone"] }
            #expect(names() == ["one"])
            try await wait("gone") { names() == [] }
        }
    }

    @Test("an issuer whose keys move has the old ones until the new place has been read")
    func moved() async throws {
        let (old, new) = (Self.issuer(at: "old"), Self.issuer(at: "new"))
        source.put("one", at: old.keys)
        setup.replace(with: try Self.setup([old]))
        try await whileLookedAfter {
            try await wait("had") { names() == ["one"] }
            setup.replace(with: try Self.setup([new]))
            #expect(names() == ["one"], "at once")
            try await wait("read") { source.isWaitedFor(new.keys) }
            #expect(names() == ["one"])
            source.put("gone", at: new.keys)
            source.answer("gone", at: new.keys)
            try await wait("told") { readiness.problems.map(\.error) == ["new is gone"] }
            #expect(names() == ["one"])
            source.put("two", at: new.keys)
            try await wait("new") { names() == ["two"] }
            setup.replace(with: try Self.setup([]))
            try await wait("forgotten") { names() == nil }
        }
    }

    @Test("an answer that comes when its reading is long over changes nothing")
    func late() async throws {
        let issuer = Self.issuer(at: "a")
        setup.replace(with: try Self.setup([issuer]))
        try await whileLookedAfter {
            try await wait("read") { source.isWaitedFor(issuer.keys) }
            setup.replace(with: try Self.setup([]))
            source.put("new", at: issuer.keys)
            // Two looks: the place has been forgotten by then.
            try await Task.sleep(for: .milliseconds(2200))
            setup.replace(with: try Self.setup([issuer]))
            try await wait("new") { names() == ["new"] }
            source.answer("withdrawn", at: issuer.keys)
            try await Task.sleep(for: .milliseconds(500))
            #expect(names() == ["new"])
        }
    }
}
