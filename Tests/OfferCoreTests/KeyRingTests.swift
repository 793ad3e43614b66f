import OfferCore
import TestSupport
import Testing

@Suite("Key ring")
struct KeyRingTests {
    private struct NoPair: SigningKeyPair {
        func sign(_ message: [UInt8]) -> [UInt8] { [] }
        func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool { true }
    }

    private static func app(_ text: String) throws -> BundleID { try BundleID(utf8: Array(text.utf8)) }

    private static func keys(_ ids: String...) throws -> [KeyRing.Key] {
        try ids.map { KeyRing.Key(id: try Fixtures.keyID($0), pair: NoPair()) }
    }

    @Test("an app signs with its own key, the others with the key for all")
    func ownKey() throws {
        let choice = KeyChoice(
            ofAllApps: try Fixtures.keyID("ALL"), ofApps: [try Self.app("com.example.a"): try Fixtures.keyID("OWN")])
        let ring = try KeyRing(keys: Self.keys("ALL", "OWN", "SPARE"), choice: choice)
        #expect(try ring.signingKey(for: Self.app("com.example.a")).id.description == "OWN")
        #expect(try ring.signingKey(for: Self.app("com.example.b")).id.description == "ALL")
        #expect(try ring.signingKey(for: Self.app("com.example.A")).id.description == "ALL", "letter case counts")
        #expect(ring.signing.map(\.description) == ["ALL", "OWN"])
    }

    @Test("without a key for all, an app without its own is not served")
    func notServed() throws {
        let choice = KeyChoice(ofAllApps: nil, ofApps: [try Self.app("com.example.a"): try Fixtures.keyID("OWN")])
        let ring = try KeyRing(keys: Self.keys("OWN"), choice: choice)
        #expect(throws: KeyRingError.noKey) { try ring.signingKey(for: Self.app("com.example.b")) }
    }

    @Test("a key that is chosen has to be there")
    func unknown() throws {
        let choice = KeyChoice(ofAllApps: try Fixtures.keyID("GONE"))
        #expect(throws: KeyRingError.unknown(try Fixtures.keyID("GONE"))) {
            try KeyRing(keys: Self.keys("OTHER"), choice: choice)
        }
    }

    @Test("a key out of service stops its own apps and no others")
    func outOfService() throws {
        let own = try Fixtures.keyID("OWN")
        let choice = KeyChoice(ofAllApps: try Fixtures.keyID("ALL"), ofApps: [try Self.app("com.example.a"): own])
        let ring = try KeyRing(keys: Self.keys("ALL", "OWN"), choice: choice).takingOutOfService(own)
        #expect(throws: KeyRingError.outOfService(own)) { try ring.signingKey(for: Self.app("com.example.a")) }
        #expect(try ring.signingKey(for: Self.app("com.example.b")).id.description == "ALL")
        #expect(ring.missingFromService == [own])
    }
}
