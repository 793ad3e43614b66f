import OfferCrypto
import TestSupport

@testable import AppStoreTestSupport

/// A chain that signs sample files, with the private keys that sign in place of a fuzzer.
struct SampleChain {
    let chain: TestChain
    /// In PEM.
    let leafKey: [UInt8]
    /// In PEM.
    let intermediateKey: [UInt8]

    static let ocspURL = "http://ocsp.intermediate.test/leaf"

    /// - Parameter padding: the size of an extension that makes certificates as large as Apple's.
    init(padding: Int = 0) throws {
        leafKey = try PrivateKeyPEM.generate()
        intermediateKey = try PrivateKeyPEM.generate()
        let filler = TestCertificate.Extension(
            oid: "1.2.3.4.5", value: DER.octetString(Array(repeating: 0x61, count: padding)))
        let pad = { (certificate: inout TestCertificate) in if padding > 0 { certificate.put(filler) } }
        chain = try TestChain(
            intermediateKey: .p256(pem: intermediateKey), leafKey: .p256(pem: leafKey), root: pad,
            intermediate: pad,
            leaf: { leaf in
                leaf.put(.ocspResponders(Self.ocspURL))
                pad(&leaf)
            })
    }

    func jws(_ sample: SamplePayload) throws -> [UInt8] { try chain.jws(payload: sample.text) }

    /// A notification with a transaction and renewal info inside.
    func notification() throws -> [UInt8] { try jws(.notification("DID_RENEW", data())) }

    /// Not signed.
    func data() throws -> SamplePayload {
        SamplePayload.data.with("signedTransactionInfo", Self.quoted(try jws(.transaction)))
            .with("signedRenewalInfo", Self.quoted(try jws(.renewalInfo)))
    }

    static func quoted(_ text: [UInt8]) -> String { "\"" + String(decoding: text, as: UTF8.self) + "\"" }
}
