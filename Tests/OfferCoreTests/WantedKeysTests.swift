import OfferCore
import TestSupport
import Testing

@Suite("Key ring rotation")
struct WantedKeysTests {
    private static func key(_ id: String) throws -> KeyRing.Key {
        KeyRing.Key(id: try Fixtures.keyID(id), pair: EmptyKeyPair())
    }

    private static func wanted(_ id: String, retired: [String] = []) throws -> WantedKeys {
        WantedKeys(
            choice: KeyChoice(ofAllApps: try Fixtures.keyID(id)),
            retired: Set(try retired.map { try Fixtures.keyID($0) }))
    }

    private static func states(_ ring: KeyRing) -> [String: KeyState] {
        Dictionary(uniqueKeysWithValues: ring.keyIDs.compactMap { id in ring.state(of: id).map { ("\(id)", $0) } })
    }

    @Test("found keys are added, chosen keys sign, and missing keys are removed")
    func moves() throws {
        let (a, b, c) = (try Self.key("A"), try Self.key("B"), try Self.key("C"))
        var ring = try KeyRing().moved(to: Self.wanted("A"), found: [a, b])
        #expect(Self.states(ring) == ["A": .active, "B": .standby])
        ring = try ring.moved(to: Self.wanted("C"), found: [a, c])
        #expect(Self.states(ring) == ["A": .standby, "C": .active])
        ring = try ring.moved(to: Self.wanted("C"), found: [c])
        #expect(Self.states(ring) == ["C": .active])
    }

    @Test("a compromised key is replaced and retired in one step, and stays retired if it is found again")
    func compromised() throws {
        let (a, b) = (try Self.key("A"), try Self.key("B"))
        var ring = try KeyRing().moved(to: Self.wanted("A"), found: [a, b])
        ring = try ring.moved(to: Self.wanted("B", retired: ["A"]), found: [a, b])
        #expect(Self.states(ring) == ["A": .retired, "B": .active])
        ring = try ring.moved(to: Self.wanted("B"), found: [b])
        #expect(Self.states(ring) == ["A": .retired, "B": .active])
        #expect(throws: KeyRingError.retired(a.id)) { try ring.moved(to: Self.wanted("A"), found: [a, b]) }
    }

    @Test("a key that is added after its ID was retired starts out retired")
    func retiredBeforeItComes() throws {
        let (a, b) = (try Self.key("A"), try Self.key("B"))
        var ring = try KeyRing().moved(to: Self.wanted("A", retired: ["B"]), found: [a])
        ring = try ring.moved(to: Self.wanted("A"), found: [a, b])
        #expect(Self.states(ring) == ["A": .active, "B": .retired])
        #expect(throws: KeyRingError.retired(b.id)) { try ring.moved(to: Self.wanted("B"), found: [a, b]) }
    }

    @Test("a missing active key stays only while it is still the wanted key")
    func goneWhileActive() throws {
        let (a, b) = (try Self.key("A"), try Self.key("B"))
        var ring = try KeyRing().moved(to: Self.wanted("A"), found: [a, b])
        ring = try ring.moved(to: Self.wanted("A"), found: [b])
        #expect(Self.states(ring) == ["A": .active, "B": .standby])
        ring = try ring.moved(to: Self.wanted("B"), found: [b])
        #expect(Self.states(ring) == ["B": .active])
    }

    @Test("a missing standby key cannot be chosen")
    func goneInStandby() throws {
        let (a, b) = (try Self.key("A"), try Self.key("B"))
        let ring = try KeyRing().moved(to: Self.wanted("A"), found: [a, b])
        #expect(throws: KeyRingError.unknown(b.id)) { try ring.moved(to: Self.wanted("B"), found: [a]) }
    }

    @Test("a new key pair with the same ID replaces the old one, unless the key is retired")
    func replaced() throws {
        let (first, second) = (try Self.key("A"), try Self.key("A"))
        var ring = try KeyRing().moved(to: Self.wanted("A"), found: [first])
        ring = try ring.moved(to: Self.wanted("A"), found: [second])
        #expect(ring.key(second.id)?.pair === second.pair)
        let other = try Self.key("B")
        ring = try ring.moved(to: Self.wanted("B", retired: ["A"]), found: [second, other])
        ring = try ring.moved(to: Self.wanted("B", retired: ["A"]), found: [first, other])
        #expect(ring.key(second.id)?.pair === second.pair)
    }
}
