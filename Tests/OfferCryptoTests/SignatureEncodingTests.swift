import Foundation
import OfferCrypto
import TestSupport
import Testing

/// An ECDSA-Sig-Value (RFC 3279 section 2.2.3) has exactly one DER encoding (X.690 section 10). Any other encoding of
/// the same two numbers is refused, because it would be a second valid signature.
@Suite("Signature encodings")
struct SignatureEncodingTests {
    /// The order of the group (SEC 2 section 2.4.2).
    private static let order = [UInt8](
        Data(base64Encoded: "/////wAAAAD//////////7zm+q2nF56E87nKwvxjJVE=") ?? Data())

    /// A key, a message, and two signatures over it: one in which r and s both need a leading zero byte, and one in
    /// which neither does.
    private struct Signed {
        private let key: VerifyingKey
        private let multiples: PrecomputedPublicKey
        let message: [UInt8] = Array("message".utf8)
        let r: [UInt8]
        let s: [UInt8]

        init(hasHighBits: Bool) throws {
            let signingKey = try Fixtures.makeSigningKey()
            key = try signingKey.verifyingKey
            multiples = try PrecomputedPublicKey(of: key.point)
            while true {
                let der = try signingKey.sign(message)
                let size = Int(der[3])
                let (r, s) = (Array(der[4..<(4 + size)]), Array(der[(6 + size)...]))
                // In DER, a number has a leading zero byte if its first bit is set.
                if (r[0] == 0) == hasHighBits, (s[0] == 0) == hasHighBits, r.count >= 32, s.count >= 32 {
                    (self.r, self.s) = (r, s)
                    return
                }
            }
        }

        /// Returns the verdict, and expects both verifiers to agree on it.
        func accepts(_ signature: [UInt8]) throws -> Bool {
            let isAccepted = try key.verify(signature, of: message)
            #expect(try multiples.accepts(signature, of: message) == isAccepted)
            return isAccepted
        }
    }

    private static func integer(_ digits: [UInt8]) -> [UInt8] { [0x02, UInt8(digits.count)] + digits }

    private static func sequence(_ body: [UInt8]...) -> [UInt8] {
        let body = Array(body.joined())
        return [0x30, UInt8(body.count)] + body
    }

    /// The negated number in two's complement, in the shortest form, as in DER.
    private static func negative(_ digits: [UInt8]) -> [UInt8] {
        var carry: UInt16 = 1
        let inverted = ([0] + digits).reversed().map { digit -> UInt8 in
            carry += UInt16(~digit)
            defer { carry >>= 8 }
            return UInt8(truncatingIfNeeded: carry)
        }
        var result = Array(inverted.reversed())
        while result.count > 1, result[0] == 0xFF, result[1] >= 0x80 { result.removeFirst() }
        return result
    }

    /// The sum, in the shortest form, as in DER.
    private static func sum(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
        func padded(_ digits: [UInt8]) -> [UInt8] { [UInt8](repeating: 0, count: 34 - digits.count) + digits }
        var carry: UInt16 = 0
        let digits = zip(padded(one).reversed(), padded(other).reversed()).map { pair -> UInt8 in
            carry += UInt16(pair.0) + UInt16(pair.1)
            defer { carry >>= 8 }
            return UInt8(truncatingIfNeeded: carry)
        }
        var result = Array(digits.reversed())
        while result.count > 1, result[0] == 0, result[1] < 0x80 { result.removeFirst() }
        return result
    }

    @Test("the DER encoding is accepted, with and without leading zeros", arguments: [true, false])
    func accepted(hasHighBits: Bool) throws {
        let signed = try Signed(hasHighBits: hasHighBits)
        #expect(try signed.accepts(Self.sequence(Self.integer(signed.r), Self.integer(signed.s))))
    }

    @Test("lengths that are not in DER form are refused")
    func lengths() throws {
        let signed = try Signed(hasHighBits: false)
        let (r, s) = (Self.integer(signed.r), Self.integer(signed.s))
        let body = r + s
        let count = UInt8(body.count)
        func long(_ integer: [UInt8]) -> [UInt8] { [0x02, 0x81, integer[1]] + integer.dropFirst(2) }
        let others: [(String, [UInt8])] = [
            ("SEQUENCE, one byte", [0x30, 0x81, count] + body), ("SEQUENCE, two bytes", [0x30, 0x82, 0, count] + body),
            ("SEQUENCE, four bytes", [0x30, 0x84, 0, 0, 0, count] + body),
            ("SEQUENCE, nine bytes", [0x30, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, count] + body),
            ("SEQUENCE, indefinite", [0x30, 0x80] + body + [0, 0]),
            ("SEQUENCE, indefinite and unterminated", [0x30, 0x80] + body),
            ("SEQUENCE, reserved", [0x30, 0xFF] + body), ("r, long", Self.sequence(long(r), s)),
            ("s, long", Self.sequence(r, long(s))),
            ("r, indefinite", Self.sequence([0x02, 0x80] + signed.r + [0, 0], s)),
            ("SEQUENCE, one too many", [0x30, count + 1] + body), ("SEQUENCE, one too few", [0x30, count - 1] + body),
            ("SEQUENCE without a length", [0x30]), ("r, one too many", Self.sequence([0x02, r[1] + 1] + signed.r, s)),
            ("r, one too few", Self.sequence([0x02, r[1] - 1] + signed.r, s)),
            ("s, one too many", Self.sequence(r, [0x02, s[1] + 1] + signed.s)),
            ("s, one too few", Self.sequence(r, [0x02, s[1] - 1] + signed.s)),
            ("r, far too many", Self.sequence([0x02, 0x7F] + signed.r, s)),
        ]
        for (name, signature) in others { #expect(try !signed.accepts(signature), "\(name)") }
    }

    @Test("extra, trailing or replaced elements are refused")
    func contents() throws {
        let signed = try Signed(hasHighBits: false)
        let (r, s) = (Self.integer(signed.r), Self.integer(signed.s))
        let whole = Self.sequence(r, s)
        var others: [(String, [UInt8])] = [
            ("trailing zero", whole + [0]), ("trailing NULL", whole + [5, 0]), ("the signature twice", whole + whole),
            ("zero after s", Self.sequence(r, s, [0])), ("NULL after s", Self.sequence(r, s, [5, 0])),
            ("a third INTEGER", Self.sequence(r, s, s)), ("NULL before r", Self.sequence([5, 0], r, s)),
            ("NULL after r", Self.sequence(r, [5, 0], s)), ("no s", Self.sequence(r)), ("nothing", Self.sequence()),
            ("nested in a SEQUENCE", Self.sequence(whole)), ("r in a SEQUENCE", Self.sequence(Self.sequence(r), s)),
            ("s before r", Self.sequence(s, r)), ("without a SEQUENCE", r + s),
            ("r twice", Self.sequence(r, r)), ("empty r", Self.sequence([2, 0], s)),
            ("empty s", Self.sequence(r, [2, 0])),
        ]
        for tag in [0x00, 0x10, 0x31, 0x70, 0xB0, 0x24] as [UInt8] {
            others.append(("tag \(tag) for SEQUENCE", [tag] + whole.dropFirst()))
        }
        for tag in [0x00, 0x01, 0x03, 0x04, 0x0A, 0x22, 0x82] as [UInt8] {
            others.append(("tag \(tag) for r", Self.sequence([tag] + r.dropFirst(), s)))
            others.append(("tag \(tag) for s", Self.sequence(r, [tag] + s.dropFirst())))
        }
        for count in 0..<whole.count { others.append(("\(count) bytes", Array(whole.prefix(count)))) }
        for (name, signature) in others { #expect(try !signed.accepts(signature), "\(name)") }
    }

    @Test("integers with too many or too few leading zeros are refused", arguments: [true, false])
    func zeros(hasHighBits: Bool) throws {
        let signed = try Signed(hasHighBits: hasHighBits)
        let (r, s) = (Self.integer(signed.r), Self.integer(signed.s))
        for zeros in [1, 2, 30] {
            let padding = [UInt8](repeating: 0, count: zeros)
            #expect(try !signed.accepts(Self.sequence(Self.integer(padding + signed.r), s)))
            #expect(try !signed.accepts(Self.sequence(r, Self.integer(padding + signed.s))))
        }
        guard hasHighBits else { return }
        // Without its leading zero, each number is negative.
        #expect(try !signed.accepts(Self.sequence(Self.integer(Array(signed.r.dropFirst())), s)))
        #expect(try !signed.accepts(Self.sequence(r, Self.integer(Array(signed.s.dropFirst())))))
    }

    @Test("numbers outside the range from 1 to the order minus 1 are refused", arguments: [true, false])
    func ranges(hasHighBits: Bool) throws {
        #expect(Self.order.count == 32)
        let signed = try Signed(hasHighBits: hasHighBits)
        let (r, s) = (signed.r, signed.s)
        let order = Self.sum(Self.order, [0])
        let large = [UInt8](repeating: 0x7F, count: 33)
        let numbers: [(String, [UInt8])] = [
            ("0", [0]), ("-1", [0xFF]), ("the order", order), ("more than the order", Self.sum(Self.order, [1])),
            ("slightly less than the order", Self.sum(Self.order, [0]).dropLast() + [0x50]), ("33 bytes", large),
            ("1", [1]), ("100 bytes", [1] + [UInt8](repeating: 0, count: 50)),
        ]
        for (name, number) in numbers {
            #expect(try !signed.accepts(Self.sequence(Self.integer(number), Self.integer(s))), "r is \(name)")
            #expect(try !signed.accepts(Self.sequence(Self.integer(r), Self.integer(number))), "s is \(name)")
            #expect(try !signed.accepts(Self.sequence(Self.integer(number), Self.integer(number))), "both are \(name)")
        }
        for (name, change) in [
            ("negative", Self.negative), ("increased by the order", { Self.sum($0, Self.order) }),
        ] as [(String, ([UInt8]) -> [UInt8])] {
            #expect(try !signed.accepts(Self.sequence(Self.integer(change(r)), Self.integer(s))), "r is \(name)")
            #expect(try !signed.accepts(Self.sequence(Self.integer(r), Self.integer(change(s)))), "s is \(name)")
        }
    }
}
