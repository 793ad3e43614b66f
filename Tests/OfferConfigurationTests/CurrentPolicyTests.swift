import OfferConfiguration
import OfferCore
import Synchronization
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

    @Test("a key keeps the time of its state until the state changes")
    func standings() throws {
        let (one, two) = (try Fixtures.keyID("ONE"), try Fixtures.keyID("TWO"))
        var ring = KeyRing()
        for id in [one, two] { try ring.add(KeyRing.Key(id: id, pair: try Fixtures.makeSigningKey())) }
        try ring.choose(KeyChoice(ofAllApps: one))
        let clock = Mutex<Int64>(100)
        let current = CurrentPolicy(Policy(ring: ring)) { Timestamp(milliseconds: clock.withLock { $0 }) }
        func standing(_ id: KeyID) -> (KeyState?, Int64?, Bool?) {
            let standing = current.standings[id]
            return (standing?.state, standing?.since.milliseconds, standing?.isSinceStart)
        }
        #expect(standing(one) == (.active, 100, true) && standing(two) == (.standby, 100, true))
        clock.withLock { $0 = 200 }
        current.replace(with: Policy(ring: ring))
        #expect(standing(one) == (.active, 100, true), "a reload without a change")
        try ring.choose(KeyChoice(ofAllApps: two))
        clock.withLock { $0 = 300 }
        current.replace(with: Policy(ring: ring))
        #expect(standing(one) == (.standby, 300, false) && standing(two) == (.active, 300, false))
        clock.withLock { $0 = 400 }
        current.takeOutOfService(two)
        #expect(current.standings[two]?.isOutOfService == true && standing(two) == (.active, 400, false))
        #expect(standing(one) == (.standby, 300, false))
    }
}
