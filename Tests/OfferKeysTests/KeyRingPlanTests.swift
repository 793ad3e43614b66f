import OfferCore
import OfferKeys
import TestSupport
import Testing

@Suite("Key ring plan")
struct KeyRingPlanTests {
    private static func id(_ text: String) throws -> KeyID { try Fixtures.keyID(text) }

    private static func key(_ text: String) throws -> KeyFileStatus {
        .key(KeyRing.Key(id: try id(text), pair: EmptyKeyPair()))
    }

    private static func draft(from ring: KeyRing = KeyRing(), to ids: String..., found: [KeyFileStatus]) throws
        -> KeyRingPlan
    {
        let apps = try ids.dropFirst().map { (try BundleID(utf8: Array("app.\($0)".utf8)), try id($0)) }
        let choice = KeyChoice(ofAllApps: try id(ids[0]), ofApps: Dictionary(uniqueKeysWithValues: apps))
        return KeyRingPlan(
            from: ring, to: WantedKeys(choice: choice), found: found, filePath: { "keys/\($0).p8" })
    }

    private static let refusal = Diagnostic("it is broken", hint: "fix it")

    @Test("the plan is complete if all wanted keys exist")
    func complete() throws {
        let draft = try Self.draft(to: "A", "B", found: [Self.key("A"), Self.key("B"), Self.key("C")])
        #expect(draft.isComplete)
        #expect(draft.problems == [])
        #expect(draft.ring.active.map(\.description) == ["A", "B"])
    }

    @Test("a broken file of an unchosen key is reported, and the plan is still complete")
    func brokenAside() throws {
        let draft = try Self.draft(to: "A", found: [Self.key("A"), .refused(nil, Self.refusal)])
        #expect(draft.isComplete)
        #expect(draft.problems == [Self.refusal])
    }

    @Test("the current ring stays unchanged while a wanted key is missing, broken or unsettled")
    func incomplete() throws {
        let old = try Self.draft(to: "A", found: [Self.key("A")]).ring
        for (findings, problems) in [
            ([], ["there is no key file keys/C.p8"]), ([.refused(try Self.id("C"), Self.refusal)], ["it is broken"]),
            ([.unsettled(try Self.id("C"))], ["the key file keys/C.p8 is incomplete"]),
        ] as [([KeyFileStatus], [String])] {
            let draft = try Self.draft(from: old, to: "B", "C", found: [Self.key("A"), Self.key("B")] + findings)
            #expect(!draft.isComplete)
            #expect(draft.ring.active.map(\.description) == ["A"])
            #expect(draft.problems.map(\.error) == problems)
        }
    }

    @Test("a refused key is not replaced by another key with the same ID", arguments: [true, false])
    func refusedFirst(isActive: Bool) throws {
        let first = try Self.draft(to: "A", found: [Self.key("A")]).ring
        let draft = try Self.draft(
            from: isActive ? first : KeyRing(), to: "A",
            found: [.refused(Self.id("A"), Self.refusal), Self.key("A")])
        #expect(draft.problems == [Self.refusal])
        #expect(draft.isComplete == isActive)
        #expect(try draft.ring.key(Self.id("A"))?.pair === first.key(Self.id("A"))?.pair || !isActive)
    }

    @Test("the active key stays in force when its file is missing or broken, and the problem is reported")
    func goneWhileActive() throws {
        let old = try Self.draft(to: "A", found: [Self.key("A")]).ring
        let gone = try Self.draft(from: old, to: "A", found: [])
        #expect(gone.isComplete)
        #expect(gone.ring.active.map(\.description) == ["A"])
        #expect(gone.problems.first?.error.contains("its file keys/A.p8 is gone") == true)
        let unsettled = try Self.draft(from: old, to: "A", found: [.unsettled(Self.id("A"))])
        #expect(unsettled.problems.map(\.error) == ["the key file keys/A.p8 is incomplete"])
        let broken = try Self.draft(from: old, to: "A", found: [.refused(Self.id("A"), Self.refusal)])
        #expect(broken.isComplete)
        #expect(broken.problems == [Self.refusal])
    }

    @Test(
        "the hint for an unknown key ID suggests a similar ID or else lists the existing IDs",
        arguments: [
            ("2X9R4HXF34", "2X9R4HXF35", true), ("2X9R4HXF34", "2X9R4HXF3", true), ("2X9R4HXF34", "2X9R4HXF344", true),
            ("2X9R4HXF34", "2x9r4hxf34", true), ("2X9R4HXFO4", "2X9R4HXF04", true), ("2X9R4HXI34", "2X9R4HX1B4", true),
            ("2X9R4HXF34", "2X9R4HFX34", true), ("2X9R4HXF34", "2X9R4HXG35", false),
            ("2X9R4HXF34", "3Y8S5JYG45", false),
        ])
    func nearMiss(there: String, meant: String, isNear: Bool) throws {
        let draft = try Self.draft(to: meant, found: [Self.key(there)])
        let hint = draft.problems.first?.hint ?? ""
        #expect(
            hint
                == (isNear
                    ? "there is a key \(there): did you mean that one?"
                    : "the folder has keys with these IDs: \(there)"))
    }

    @Test("a key given as text takes precedence over a file with the same ID")
    func textFirst() throws {
        let (text, file) = (EmptyKeyPair(), EmptyKeyPair())
        let draft = try Self.draft(
            to: "A",
            found: [text, file].map { .key(KeyRing.Key(id: try Self.id("A"), pair: $0)) })
        #expect(draft.ring.key(try Self.id("A"))?.pair === text)
    }
}
