import AppStoreData
import OfferCrypto
import Testing

@Suite("Forged App Store JWS")
struct ForgeryTests {
    @Test("a forgery is refused for its own reason", arguments: Forgery.all)
    func refused(forgery: Forgery) throws {
        let attempt = try forgery.attempt
        #expect(throws: VerificationFailure(forgery.code, forgery.role)) { try attempt.verify() }
    }

    @Test("a forgery is refused for the same reason when its certificates are known", arguments: Forgery.all)
    func refusedWhenKnown(forgery: Forgery) throws {
        let chain = try TestChain.standard.get()
        let attempt = try forgery.attempt
        let known = KnownChains()
        _ = try Attempt(of: chain).verify(knownChains: known)
        // What is known was verified with one set of roots.
        guard attempt.roots == [chain.root] else { return }
        #expect(throws: VerificationFailure(forgery.code, forgery.role)) {
            try attempt.verify(knownChains: known)
        }
    }

    @Test("each forgery has a name of its own")
    func names() {
        let names = Forgery.all.map(\.testDescription)
        #expect(Set(names).count == names.count && names.count >= 200)
    }
}
