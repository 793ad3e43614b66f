import OfferConfiguration
import OfferCore
import TestSupport
import Testing

@Suite("The policy in force")
struct CurrentPolicyTests {
    private static func app(_ text: String) throws -> BundleID { try BundleID(utf8: Array(text.utf8)) }

    @Test("a key out of service does not sign, and no other key replaces it")
    func outOfService() throws {
        let id = try Fixtures.keyID()
        let key = KeyRing.Key(id: id, pair: try Fixtures.makeSigningKey())
        let current = CurrentPolicy(Policy(ring: KeyRing(active: key)))
        let before = current.snapshot.ring
        let app = try Self.app("com.example.app")
        current.takeOutOfService(try Fixtures.keyID("ANOTHERKEY"))
        #expect(try current.snapshot.ring.signingKey(for: app).id == id)
        current.takeOutOfService(id)
        #expect(throws: KeyRingError.outOfService(id)) { try current.snapshot.ring.signingKey(for: app) }
        #expect(try before.signingKey(for: app).id == id, "a snapshot does not change")
    }

    @Test("a key out of service affects only its own apps, even after the ring is replaced")
    func ownApps() throws {
        let (all, own) = (try Fixtures.keyID("ALL"), try Fixtures.keyID("OWN"))
        var ring = KeyRing()
        for id in [all, own] { try ring.add(KeyRing.Key(id: id, pair: try Fixtures.makeSigningKey())) }
        try ring.choose(KeyChoice(ofAllApps: all, ofApps: [Self.app("com.example.a"): own]))
        let current = CurrentPolicy(Policy(ring: ring))
        current.takeOutOfService(own)
        current.replace(with: Policy(ring: ring))
        ring = current.snapshot.ring
        #expect(throws: KeyRingError.outOfService(own)) { try ring.signingKey(for: Self.app("com.example.a")) }
        #expect(try ring.signingKey(for: Self.app("com.example.b")).id == all)
        #expect(ring.activeOutOfService == [own])
    }
}
