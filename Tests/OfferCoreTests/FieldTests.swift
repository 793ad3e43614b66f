import OfferCore
import TestSupport
import Testing

@Suite("Fields")
struct FieldTests {
    @Test("each Unicode scalar is checked on its own, even next to a combining mark")
    func everyScalar() throws {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let expected = reason(for: scalar)
            let alone = expected ?? (Self.blanks.contains(value) ? .blank : nil)
            let texts = [("\(scalar)", alone), ("a\(scalar)\u{301}", expected), ("e\u{301}\(scalar)", expected)]
            for (text, expected) in texts {
                let found = refusal { () throws(FieldError) in _ = try OfferID(utf8: Array(text.utf8)) }
                guard found != expected else { continue }
                Issue.record("U+\(String(value, radix: 16)): \(String(describing: found))")
            }
        }
    }

    /// The scalars with the property `White_Space` that are not control characters or line separators (PropList.txt of
    /// Unicode).
    private static let blanks = Set([0x20, 0xA0, 0x1680, 0x202F, 0x205F, 0x3000] + Array(UInt32(0x2000)...0x200A))

    /// The rule, expressed for a single scalar.
    private func reason(for scalar: Unicode.Scalar) -> FieldError.Reason? {
        switch scalar.value {
        case 0x2063: .separator
        case 0...0x1F, 0x7F...0x9F, 0x2028, 0x2029: .controlCharacter
        default: nil
        }
    }

    private func refusal(_ body: () throws(FieldError) -> Void) -> FieldError.Reason? {
        do {
            try body()
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(
        "every field refuses separators and control characters, and the error names the field",
        arguments: [
            ("a\u{2063}b", FieldError.Reason.separator), ("\u{2063}\u{301}", .separator), ("a\nb", .controlCharacter),
            ("\u{0}", .controlCharacter), ("a\u{85}", .controlCharacter), ("\u{2028}", .controlCharacter),
        ])
    func everyFieldRefuses(text: String, reason: FieldError.Reason) {
        let utf8 = Array(text.utf8)
        #expect(throws: FieldError(field: "appBundleID", reason: reason)) { try BundleID(utf8: utf8) }
        #expect(throws: FieldError(field: "bundleID", reason: reason)) { try BundleID(utf8: utf8, field: "bundleID") }
        #expect(throws: FieldError(field: "productIdentifier", reason: reason)) { try ProductID(utf8: utf8) }
        #expect(throws: FieldError(field: "offerID", reason: reason)) { try OfferID(utf8: utf8) }
        #expect(throws: FieldError(field: "applicationUsername", reason: reason)) {
            try Customer(applicationUsername: utf8)
        }
        #expect(throws: FieldError(field: "keyID", reason: reason)) { try KeyID(utf8: utf8) }
        #expect(throws: FieldError(field: "appAccountToken", reason: .notUUID)) { try Customer(appAccountToken: utf8) }
    }

    @Test(
        "invalid UTF-8 is refused",
        arguments: [[0xFF], [0xC3], [0xE2, 0x81], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]]
            as [[UInt8]])
    func brokenUTF8(bytes: [UInt8]) {
        #expect(throws: FieldError(field: "offerID", reason: .notUTF8)) { try OfferID(utf8: bytes) }
    }

    @Test("size limits count bytes")
    func sizes() throws {
        _ = try BundleID(utf8: [UInt8](repeating: 0x61, count: 155))
        #expect(throws: FieldError(field: "appBundleID", reason: .tooLong(maximumBytes: 155))) {
            try BundleID(utf8: [UInt8](repeating: 0x61, count: 156))
        }
        #expect(throws: FieldError(field: "offerID", reason: .empty)) { try OfferID(utf8: []) }
        _ = try Customer(applicationUsername: [])
        _ = try Customer(applicationUsername: [UInt8](repeating: 0x61, count: 512))
        #expect(throws: FieldError(field: "applicationUsername", reason: .tooLong(maximumBytes: 512))) {
            try Customer(applicationUsername: [UInt8](repeating: 0x61, count: 513))
        }
        #expect(throws: FieldError(field: "keyID", reason: .notAlphanumeric)) { try KeyID(utf8: Array("../etc".utf8)) }
    }

    @Test(
        "a field of white space only is refused, and white space beside other text is kept",
        arguments: [" ", "    ", "\u{A0}", " \u{3000}\u{2003} ", String(repeating: " ", count: 150)])
    func blank(text: String) throws {
        let utf8 = Array(text.utf8)
        #expect(throws: FieldError(field: "appBundleID", reason: .blank)) { try BundleID(utf8: utf8) }
        #expect(throws: FieldError(field: "productIdentifier", reason: .blank)) { try ProductID(utf8: utf8) }
        #expect(throws: FieldError(field: "offerID", reason: .blank)) { try OfferID(utf8: utf8) }
        #expect(throws: FieldError(field: "applicationUsername", reason: .blank)) {
            try Customer(applicationUsername: utf8)
        }
        let id = Array("7".utf8)
        #expect(try OfferID(utf8: utf8 + id).text.utf8 == utf8 + id)
        #expect(try Customer(applicationUsername: utf8 + id).utf8 == utf8 + id)
        #expect(try Customer(applicationUsername: []).utf8 == [], "an app without usernames signs an empty one")
    }

    @Test("canonically equivalent strings with different bytes are different")
    func noNormalisation() throws {
        let composed = try OfferID(utf8: Array("\u{E9}".utf8))
        let decomposed = try OfferID(utf8: Array("e\u{301}".utf8))
        #expect(composed != decomposed)
        #expect(composed.text.utf8 == [0xC3, 0xA9])
        #expect(decomposed.text.utf8 == [0x65, 0xCC, 0x81])
    }

    @Test("an account token is signed in lower case and a username byte for byte")
    func customer() throws {
        let upperCase = Array("D3B07384-D113-4EC6-A7B1-6F1C2F5E9B10".utf8)
        #expect(try Customer(appAccountToken: upperCase).utf8 == Array("d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10".utf8))
        #expect(try Customer(applicationUsername: upperCase).utf8 == upperCase)
    }

    @Test(
        "an account token that is not a UUID is refused",
        arguments: [
            "", "d3b07384d1134ec6a7b16f1c2f5e9b10", "d3b07384-d113-4ec6-a7b1-6f1c2f5e9b1",
            "{d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10}",
            "d3b07384-d113-4ec6-a7b1-6f1c2f5e9b1g", "d3b07384-d113-4ec6-a7b16-f1c2f5e9b10",
            " d3b07384-d113-4ec6-a7b1-6f1c2f5e9b1",
            "d3b0738--d113-4ec6-a7b1-6f1c2f5e9b10",
        ])
    func notUUID(text: String) {
        #expect(throws: FieldError(field: "appAccountToken", reason: .notUUID)) {
            try Customer(appAccountToken: Array(text.utf8))
        }
    }

    @Test("a nonce is a lower-case version 4 UUID whose other bits come from the generator")
    func nonceBits() throws {
        var ones = ConstantGenerator(value: .max)
        #expect(Nonce(using: &ones).description == "ffffffff-ffff-4fff-bfff-ffffffffffff")
        var zeros = ConstantGenerator(value: 0)
        #expect(Nonce(using: &zeros).description == "00000000-0000-4000-8000-000000000000")
        var counting = SplitMix64(seed: 1)
        #expect(Set((0..<10_000).map { _ in Nonce(using: &counting) }).count == 10_000)
    }

    private struct ConstantGenerator: RandomNumberGenerator {
        let value: UInt64
        mutating func next() -> UInt64 { value }
    }

    @Test("times are added and subtracted in milliseconds, and stop at the first and the last time")
    func timestamps() {
        let time = Timestamp(milliseconds: 1000)
        #expect(time + .milliseconds(250) == Timestamp(milliseconds: 1250))
        #expect(time - .milliseconds(1250) == Timestamp(milliseconds: -250))
        #expect(time - Timestamp(milliseconds: 400) == .milliseconds(600))
        #expect(Timestamp.max + .days(1) == .max && Timestamp.min - .days(1) == .min)
        #expect(Timestamp.max - .days(1) + .days(1) == .max)
    }
}
