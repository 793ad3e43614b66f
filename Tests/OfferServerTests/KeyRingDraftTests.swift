import OfferCore
import OfferServer
import TestSupport
import Testing

@Suite("Draft of a ring")
struct KeyRingDraftTests {
    private static func id(_ text: String) throws -> KeyID { try Fixtures.keyID(text) }

    private static func key(_ text: String) throws -> KeyFinding {
        .key(KeyRing.Key(id: try id(text), pair: EmptyKeyPair()))
    }

    private static func draft(from ring: KeyRing = KeyRing(), to ids: String..., findings: [KeyFinding]) throws
        -> KeyRingDraft
    {
        let apps = try ids.dropFirst().map { (try BundleID(utf8: Array("app.\($0)".utf8)), try id($0)) }
        let choice = KeyChoice(ofAllApps: try id(ids[0]), ofApps: Dictionary(uniqueKeysWithValues: apps))
        return KeyRingDraft(
            from: ring, to: WantedKeys(choice: choice), findings: findings, filePath: { "keys/\($0).p8" })
    }

    private static let refusal = SetupProblem("it is broken", hint: "mend it")

    @Test("all that is wanted is there: the ring is complete")
    func complete() throws {
        let draft = try Self.draft(to: "A", "B", findings: [Self.key("A"), Self.key("B"), Self.key("C")])
        #expect(draft.isComplete)
        #expect(draft.problems == [])
        #expect(draft.ring.active.map(\.description) == ["A", "B"])
    }

    @Test("a broken file that nobody chose is a problem and changes nothing")
    func brokenAside() throws {
        let draft = try Self.draft(to: "A", findings: [Self.key("A"), .refused(nil, Self.refusal)])
        #expect(draft.isComplete)
        #expect(draft.problems == [Self.refusal])
    }

    @Test("as long as one key that is wanted is missing, broken or unsettled, the whole old ring stays")
    func incomplete() throws {
        let old = try Self.draft(to: "A", findings: [Self.key("A")]).ring
        for (findings, problems) in [
            ([], ["there is no key file keys/C.p8"]), ([.refused(try Self.id("C"), Self.refusal)], ["it is broken"]),
            ([.unsettled(try Self.id("C"))], ["the key file keys/C.p8 is not whole yet"]),
        ] as [([KeyFinding], [String])] {
            let draft = try Self.draft(from: old, to: "B", "C", findings: [Self.key("A"), Self.key("B")] + findings)
            #expect(!draft.isComplete)
            #expect(draft.ring.active.map(\.description) == ["A"])
            #expect(draft.problems.map(\.error) == problems)
        }
    }

    @Test("a key that is refused is not replaced by another one with its ID", arguments: [true, false])
    func refusedFirst(isActive: Bool) throws {
        let first = try Self.draft(to: "A", findings: [Self.key("A")]).ring
        let draft = try Self.draft(
            from: isActive ? first : KeyRing(), to: "A",
            findings: [.refused(Self.id("A"), Self.refusal), Self.key("A")])
        #expect(draft.problems == [Self.refusal])
        #expect(draft.isComplete == isActive)
        #expect(try draft.ring.key(Self.id("A"))?.pair === first.key(Self.id("A"))?.pair || !isActive)
    }

    @Test("the key that signs stays when its file is gone or broken, and that is told")
    func goneWhileActive() throws {
        let old = try Self.draft(to: "A", findings: [Self.key("A")]).ring
        let gone = try Self.draft(from: old, to: "A", findings: [])
        #expect(gone.isComplete)
        #expect(gone.ring.active.map(\.description) == ["A"])
        #expect(gone.problems.first?.error.contains("its file keys/A.p8 is gone") == true)
        let unsettled = try Self.draft(from: old, to: "A", findings: [.unsettled(Self.id("A"))])
        #expect(unsettled.problems.map(\.error) == ["the key file keys/A.p8 is not whole yet"])
        let broken = try Self.draft(from: old, to: "A", findings: [.refused(Self.id("A"), Self.refusal)])
        #expect(broken.isComplete)
        #expect(broken.problems == [Self.refusal])
    }

    @Test(
        "a key ID that is nearly another one gets that as a hint",
        arguments: [
            ("2X9R4HXF34", "2X9R4HXF35", true), ("2X9R4HXF34", "2X9R4HXF3", true), ("2X9R4HXF34", "2X9R4HXF344", true),
            ("2X9R4HXF34", "2x9r4hxf34", true), ("2X9R4HXFO4", "2X9R4HXF04", true), ("2X9R4HXI34", "2X9R4HX1B4", true),
            ("2X9R4HXF34", "2X9R4HFX34", true), ("2X9R4HXF34", "2X9R4HXG35", false),
            ("2X9R4HXF34", "3Y8S5JYG45", false),
        ])
    func nearMiss(there: String, meant: String, isNear: Bool) throws {
        let draft = try Self.draft(to: meant, findings: [Self.key(there)])
        let hint = draft.problems.first?.hint ?? ""
        #expect(
            hint
                == (isNear
                    ? "there is a key \(there): is that the one that was meant?"
                    : "the folder has keys with these IDs: \(there)"))
    }

    @Test("the text of a key wins over the file with the same ID")
    func textFirst() throws {
        let (text, file) = (EmptyKeyPair(), EmptyKeyPair())
        let draft = try Self.draft(
            to: "A",
            findings: [text, file].map { .key(KeyRing.Key(id: try Self.id("A"), pair: $0)) })
        #expect(draft.ring.key(try Self.id("A"))?.pair === text)
    }
}
