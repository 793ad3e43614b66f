import OfferCrypto
import Testing

@Suite("Secret bytes")
struct SecretBytesTests {
    private struct Fault: Error {}

    @Test("the bytes are those that were copied or written, without the rest of the capacity")
    func bytes() {
        let copied = SecretBytes(copying: Array("secret".utf8))
        #expect(copied.count == 6 && copied.withSpan { $0[0] } == UInt8(ascii: "s"))
        let written = SecretBytes(capacity: 10) { bytes in
            bytes[0] = 7
            return 1
        }
        #expect(written.count == 1 && written.withSpan { $0.count } == 1 && written.withSpan { $0[0] } == 7)
        #expect(SecretBytes(copying: []).count == 0)
    }

    @Test("an error while the bytes are written is passed on")
    func fault() {
        #expect(throws: Fault.self) { try SecretBytes(capacity: 10) { _ throws(Fault) in throw Fault() } }
    }
}
