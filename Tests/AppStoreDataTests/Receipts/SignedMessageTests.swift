import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import OfferCrypto

extension ReceiptTests {
    @Suite("The shape of CMS messages", .serialized)
    struct SignedMessageTests {
        @Test(
            "what is not BER is refused before libcrypto reads it",
            arguments: [
                [0x04, 0x80, 0x00, 0x00], [0x1F, 0x02, 0x00, 0x00], [0x30], [0x30, 0x80], [0x30, 0x80, 0x00],
                [0x30, 0x02, 0x04],
                [0x30, 0x02, 0x04, 0x01], [0x30, 0x81], [0x30, 0x82, 0x00], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
                [0x30, 0x85, 0x00, 0x00, 0x00, 0x00, 0x00],
                [0x30, 0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE],
                [0x30, 0x03, 0x30, 0x80, 0x00],
            ] as [[UInt8]])
        func malformed(bytes: [UInt8]) {
            #expect(throws: SignedMessageError.malformed) { _ = try SignedMessage(ber: bytes) }
        }

        @Test("any definite and indefinite lengths inside each other are one element")
        func nesting() throws {
            let indefinite = BER.indefinite(0x30, DER.value(0x30, BER.indefinite(0x24, DER.octetString([0, 0]))))
            #expect(throws: Never.self) { try BERShape.check(indefinite) }
            #expect(throws: Never.self) { try BERShape.check(DER.value(0x30, indefinite + indefinite)) }
            #expect(throws: SignedMessageError.trailingBytes) { try BERShape.check(indefinite + indefinite) }
        }

        @Test("16 levels and 4096 elements are allowed, and one more is not")
        func bounds() {
            let deep = (0..<16).reduce([]) { nested, _ in DER.value(0x30, nested) }
            #expect(throws: Never.self) { try BERShape.check(deep) }
            #expect(throws: SignedMessageError.tooComplex) { try BERShape.check(DER.value(0x30, deep)) }
            let elements = [[UInt8]](repeating: DER.null, count: 4096).flatMap { $0 }
            #expect(throws: Never.self) { try BERShape.check(DER.value(0x30, elements.dropLast(2))) }
            #expect(throws: SignedMessageError.tooComplex) { try BERShape.check(DER.value(0x30, elements)) }
        }

        @Test("libcrypto's reader refuses trailing bytes too")
        func trailingBytes() throws {
            let message = try ReceiptSigner.standard.get().message(TestReceipt()).encoded
            #expect(throws: Never.self) { _ = try ContentInfo(ber: message) }
            #expect(throws: SignedMessageError.trailingBytes) { _ = try ContentInfo(ber: message + [0]) }
        }

        @Test("every reason has words of its own")
        func descriptions() {
            let error = OpenSSLError(call: "f", reasons: [])
            let errors: [SignedMessageError] = [
                .tooLarge, .malformed, .tooComplex, .trailingBytes, .unreadable(error), .notSignedData,
                .wrongContentType,
                .detached, .signerCount(2), .tooManyCertificates, .certificate(.notDER), .unnamedSigner,
                .signerCertificateCount(2), .unsuitableKey, .unsupportedAlgorithm, .wrongContentTypeAttribute,
                .wrongSignature, .failed(error),
            ]
            #expect(Set(errors.map(\.description)).count == errors.count)
        }
    }
}
