import OfferCore
import TestSupport
import Testing

@Suite("Key ring")
struct KeyRingTests {
    private static func app(_ text: String) throws -> BundleID { try BundleID(utf8: Array(text.utf8)) }

    private static func id(_ text: String) throws -> KeyID { try Fixtures.keyID(text) }

    private static func key(_ id: String) throws -> KeyRing.Key {
        KeyRing.Key(id: try Self.id(id), pair: EmptyKeyPair())
    }

    /// A ring with these keys; the first signs for all apps.
    private static func ring(_ ids: String...) throws -> KeyRing {
        var ring = KeyRing()
        for id in ids { try ring.add(key(id)) }
        try ring.choose(KeyChoice(ofAllApps: id(ids[0])))
        return ring
    }

    @Test("an app with its own key uses it, and the others use the key for all apps")
    func ownKey() throws {
        var ring = try Self.ring("ALL", "OWN", "SPARE")
        try ring.choose(
            KeyChoice(ofAllApps: Self.id("ALL"), ofApps: [Self.app("com.example.a"): Self.id("OWN")]))
        #expect(try ring.signingKey(for: Self.app("com.example.a")).id.description == "OWN")
        #expect(try ring.signingKey(for: Self.app("com.example.b")).id.description == "ALL")
        #expect(try ring.signingKey(for: Self.app("com.example.A")).id.description == "ALL", "letter case counts")
        #expect(ring.active.map(\.description) == ["ALL", "OWN"])
        #expect(try ring.state(of: Self.id("SPARE")) == .standby)
    }

    @Test("without a key for all apps, an app without its own key is not served")
    func notServed() throws {
        var ring = try Self.ring("OWN")
        try ring.choose(KeyChoice(ofAllApps: nil, ofApps: [Self.app("com.example.a"): Self.id("OWN")]))
        #expect(throws: KeyRingError.noKey) { try ring.signingKey(for: Self.app("com.example.b")) }
    }

    @Test("a newly chosen key signs, and the previous one goes to standby")
    func choosing() throws {
        var ring = try Self.ring("A", "B")
        try ring.choose(KeyChoice(ofAllApps: Self.id("B")))
        #expect(try ring.signingKey(for: Self.app("a")).id == Self.id("B"))
        #expect(try ring.state(of: Self.id("A")) == .standby)
        try ring.choose(KeyChoice(ofAllApps: Self.id("A")))
        #expect(try ring.signingKey(for: Self.app("a")).id == Self.id("A"))
    }

    @Test("a retired key stays known and never signs again")
    func retiring() throws {
        var ring = try Self.ring("A", "B")
        try ring.retire(Self.id("B"))
        #expect(try ring.state(of: Self.id("B")) == .retired)
        #expect(try ring.key(Self.id("B")) != nil)
    }

    /// Illegal moves on a ring in which A is active, B on standby, R retired and X out of service.
    private static let illegalMoves: [(name: String, error: String, move: @Sendable (inout KeyRing) throws -> Void)] = [
        ("add an existing key", "exists(B)", { try $0.add(key("B")) }),
        ("add a retired key", "exists(R)", { try $0.add(key("R")) }),
        ("replace an unknown key", "unknown(N)", { try $0.replace(key("N")) }),
        ("replace a retired key", "retired(R)", { try $0.replace(key("R")) }),
        ("choose an unknown key", "unknown(N)", { try $0.choose(KeyChoice(ofAllApps: id("N"))) }),
        ("choose a retired key", "retired(R)", { try $0.choose(KeyChoice(ofAllApps: id("R"))) }),
        (
            "choose a retired key for one app", "retired(R)",
            { try $0.choose(KeyChoice(ofAllApps: id("B"), ofApps: [app("a"): id("R")])) }
        ),
        ("choose a key out of service", "outOfService(X)", { try $0.choose(KeyChoice(ofAllApps: id("X"))) }),
        ("retire an unknown key", "unknown(N)", { try $0.retire(id("N")) }),
        ("retire the key that signs", "activeKey(A)", { try $0.retire(id("A")) }),
        ("retire a retired key", "retired(R)", { try $0.retire(id("R")) }),
        ("remove an unknown key", "unknown(N)", { try $0.remove(id("N")) }),
        ("remove the key that signs", "activeKey(A)", { try $0.remove(id("A")) }),
        ("remove a retired key", "retired(R)", { try $0.remove(id("R")) }),
    ]

    @Test("every illegal move is an error and changes nothing", arguments: illegalMoves.indices)
    func illegalMove(index: Int) throws {
        let (name, expected, move) = Self.illegalMoves[index]
        var ring = try Self.ring("A", "B", "R", "X")
        try ring.retire(Self.id("R"))
        ring.takeOutOfService(try Self.id("X"))
        let before = ring.keyIDs.map { "\($0) \(String(describing: ring.state(of: $0)))" }
        do {
            try move(&ring)
            Issue.record("the ring allowed this move: \(name)")
        } catch let error as KeyRingError {
            #expect(error == Self.error(expected), "\(name): \(error)")
        }
        #expect(ring.keyIDs.map { "\($0) \(String(describing: ring.state(of: $0)))" } == before)
        #expect(try ring.signingKey(for: Self.app("a")).id == Self.id("A"))
    }

    private static func error(_ text: String) -> KeyRingError? {
        guard let id = try? id(String(text.dropLast().suffix(1))) else { return nil }
        return ["exists": .exists(id), "unknown": .unknown(id), "retired": .retired(id), "activeKey": .activeKey(id)][
            String(text.prefix { $0 != "(" })] ?? .outOfService(id)
    }

    @Test(
        "any sequence of moves leaves one active key, and retired keys stay retired",
        arguments: 0..<20 as Range<UInt64>)
    func anyHistory(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var ring = try Self.ring("A", "B", "C")
        var retired: Set<KeyID> = []
        for _ in 0..<500 {
            let key = try Self.key(["A", "B", "C", "D"].randomElement(using: &random) ?? "")
            let move = Int.random(in: 0..<4, using: &random)
            do {
                switch move {
                case 0: try ring.choose(KeyChoice(ofAllApps: key.id))
                case 1: try ring.add(key)
                case 2: try ring.remove(key.id)
                default:
                    // Retire rarely. Otherwise, all keys would soon be retired.
                    guard Int.random(in: 0..<50, using: &random) == 0 else { continue }
                    try ring.retire(key.id)
                    retired.insert(key.id)
                }
            } catch {}
            #expect(ring.keyIDs.filter { ring.state(of: $0) == .active } == ring.active)
            #expect(ring.active.count == 1)
            #expect(try ring.signingKey(for: Self.app("a")).id == ring.active[0])
            #expect(Set(ring.keyIDs.filter { ring.state(of: $0) == .retired }) == retired)
        }
    }
}
