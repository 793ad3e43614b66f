import AppStoreData
import OfferCrypto
import Testing

@testable import AppStoreTestSupport

@Suite("Forged App Store JWS")
struct ForgeryTests {
    @Test("a forgery is refused for its own reason", arguments: Forgery.all)
    func refused(forgery: Forgery) throws {
        let attempt = try forgery.attempt
        #expect(throws: VerificationFailure(forgery.code, forgery.role)) { try attempt.verify() }
    }

    /// The chain of most forgeries, as a verifier knows it after one good JWS.
    private static func known(precomputed: Bool) throws -> KnownChains {
        let known = KnownChains()
        _ = try Attempt(of: TestChain.standard.get()).verify(knownChains: known)
        if precomputed { try known.precompute() }
        return known
    }

    private static let known = Result { try known(precomputed: false) }
    private static let precomputed = Result { try known(precomputed: true) }

    @Test(
        "a forgery is refused for the same reason when its certificates are known, with and without a precomputed key",
        arguments: Forgery.all)
    func refusedWhenKnown(forgery: Forgery) throws {
        let attempt = try forgery.attempt
        // What is known was verified with one set of roots.
        guard attempt.roots == [try TestChain.standard.get().root] else { return }
        for known in [try Self.known.get(), try Self.precomputed.get()] {
            #expect(throws: VerificationFailure(forgery.code, forgery.role)) {
                try attempt.verify(knownChains: known)
            }
        }
    }

    @Test("each forgery has a name of its own")
    func names() {
        let names = Forgery.all.map(\.testDescription)
        #expect(Set(names).count == names.count && names.count >= 200)
    }
}
