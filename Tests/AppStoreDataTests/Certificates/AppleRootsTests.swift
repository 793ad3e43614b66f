import AppStoreData
import OfferCore
import OfferCrypto
import Testing

@testable import AppStoreTestSupport

@Suite("Apple's root certificates")
struct AppleRootsTests {
    @Test("the embedded roots have the fingerprints that Apple publishes")
    func fingerprints() {
        #expect(
            AppleRoots.certificates.map { Hexadecimal.text(of: $0.digest) } == [
                "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179",
                "c2b9b042dd57830e7d117dac55ac8ae19407d38e41d88f3215bc3a890444a050",
                "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024",
            ])
    }

    @Test("the fields of a root are those that openssl x509 prints")
    func fields() throws {
        let root = try #require(AppleRoots.certificates.first)
        #expect(root.subject == "C=US,O=Apple Inc.,OU=Apple Certification Authority,CN=Apple Root CA - G3")
        #expect(root.issuer == root.subject)
        #expect(root.serialNumber == "2dc5fc88d2c54b95")
        #expect(root.notBefore == 1_398_881_946 && root.notAfter == 2_187_800_346)
        #expect(root.isCA && root.ocspURLs.isEmpty)
        #expect(root.hasExtension("2.5.29.19") && !root.hasExtension("1.2.840.113635.100.6.11.1"))
    }
}
