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

    private static func draft(
        from ring: KeyRing = KeyRing(), to ids: String..., found: [KeyFileStatus], isRequested: Bool = false,
        fingerprints: [String: String] = [:]
    ) throws -> KeyRingPlan {
        let apps = try ids.dropFirst().map { (try BundleID(utf8: Array("app.\($0)".utf8)), try id($0)) }
        let choice = KeyChoice(ofAllApps: try id(ids[0]), ofApps: Dictionary(uniqueKeysWithValues: apps))
        let pins = try fingerprints.map { (try id($0), $1) }
        let wanted = WantedKeys(choice: choice, fingerprints: Dictionary(uniqueKeysWithValues: pins))
        return KeyRingPlan(
            from: ring, to: wanted, found: found, isRequested: isRequested, filePath: { "keys/\($0).p8" })
    }

    private static func key(_ text: String, fingerprint: String) throws -> KeyFileStatus {
        .key(KeyRing.Key(id: try id(text), pair: EmptyKeyPair(fingerprint: fingerprint)))
    }

    private static func fingerprint(of text: String, in ring: KeyRing) throws -> String? {
        ring.key(try id(text))?.pair.fingerprint
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

    // MARK: Fingerprints

    @Test("another pair under the ID of an active key is refused until an operator requests it; the rest is applied")
    func replacedWhileActive() throws {
        let old = try Self.draft(to: "A", found: [Self.key("A", fingerprint: "1111")]).ring
        let found = [try Self.key("A", fingerprint: "2222"), try Self.key("B", fingerprint: "3333")]
        let refused = try Self.draft(from: old, to: "A", found: found)
        #expect(refused.isComplete && refused.keptKeys.map(\.description) == ["A"])
        #expect(try Self.fingerprint(of: "A", in: refused.ring) == "1111")
        #expect(try refused.ring.state(of: Self.id("B")) == .standby)
        let problem = try #require(refused.problems.first)
        #expect(refused.problems.count == 1 && problem.error.hasPrefix("keys/A.p8 now contains another key"))
        #expect(problem.error.contains("1111") && problem.error.contains("2222") && problem.hint.contains("SIGHUP"))

        // Not even in two steps: while the file is away, the key stays active.
        let gone = try Self.draft(from: old, to: "A", found: [])
        #expect(try Self.fingerprint(of: "A", in: Self.draft(from: gone.ring, to: "A", found: found).ring) == "1111")

        let requested = try Self.draft(from: refused.ring, to: "A", found: found, isRequested: true)
        #expect(requested.isComplete && requested.problems == [] && requested.keptKeys == [])
        #expect(try Self.fingerprint(of: "A", in: requested.ring) == "2222")
    }

    @Test("a key in standby may be replaced at any time")
    func replacedInStandby() throws {
        let old = try Self.draft(to: "A", found: [Self.key("A"), Self.key("B", fingerprint: "1")]).ring
        let next = try Self.draft(from: old, to: "A", found: [Self.key("A"), Self.key("B", fingerprint: "2")])
        #expect(next.isComplete && next.problems == [])
        #expect(try Self.fingerprint(of: "B", in: next.ring) == "2")
    }

    @Test("a key without the configured fingerprint is refused, whether or not it is chosen")
    func wrongFingerprint() throws {
        let found = [try Self.key("A", fingerprint: "1111"), try Self.key("B", fingerprint: "2222")]
        for id in ["A", "B"] {
            let draft = try Self.draft(to: "A", found: found, fingerprints: [id: "9999"])
            #expect(draft.isComplete == (id == "B"))
            #expect(try draft.ring.key(Self.id(id)) == nil)
            let problem = try #require(draft.problems.first?.error)
            #expect(draft.problems.count == 1 && problem.hasPrefix("key \(id) has the fingerprint"))
            #expect(problem.contains("9999"))
        }
        let draft = try Self.draft(to: "A", found: found, fingerprints: ["A": "1111", "B": "2222"])
        #expect(draft.isComplete && draft.problems == [])
    }

    @Test("a new fingerprint for an active key waits for the right file, which then needs no further request")
    func newFingerprint() throws {
        let old = try Self.draft(to: "A", found: [Self.key("A", fingerprint: "1111")]).ring
        let pins = ["A": "2222"]
        let waiting = try Self.draft(
            from: old, to: "A", found: [Self.key("A", fingerprint: "1111")], isRequested: true, fingerprints: pins)
        #expect(!waiting.isComplete && waiting.problems.count == 1)
        #expect(try Self.fingerprint(of: "A", in: waiting.ring) == "1111")
        let gone = try Self.draft(from: old, to: "A", found: [], isRequested: true, fingerprints: pins)
        #expect(!gone.isComplete, "the key in force has another fingerprint")
        let next = try Self.draft(
            from: old, to: "A", found: [Self.key("A", fingerprint: "2222")], fingerprints: pins)
        #expect(next.isComplete && next.problems == [])
        #expect(try Self.fingerprint(of: "A", in: next.ring) == "2222")
    }
}
