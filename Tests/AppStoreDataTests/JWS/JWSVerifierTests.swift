import AppStoreData
import OfferCore
import OfferCrypto
import Testing

@Suite("App Store JWS")
struct JWSVerifierTests {
    private let chain: TestChain
    private let verifier: JWSVerifier

    init() throws {
        chain = try TestChain.standard.get()
        verifier = JWSVerifier(roots: TrustedRoots([try X509Certificate(der: chain.root)]))
    }

    @Test("a signed payload is returned byte for byte, with its members and certificates")
    func good() throws {
        let verified = try verifier.verify(chain.jws(), at: .ofSigning(otherwise: 0))
        #expect(verified.bytes == Array(TestChain.payload.utf8))
        #expect(verified.members["bundleId"] == .string(Array("com.example.app".utf8)))
        #expect(verified.effectiveDate == TestTime.now)
        #expect(verified.chain.leaf.der == chain.leaf && verified.chain.intermediate?.der == chain.intermediate)
        #expect(verified.chain.root.der == chain.root && !verified.chain.isXcode)
    }
}
