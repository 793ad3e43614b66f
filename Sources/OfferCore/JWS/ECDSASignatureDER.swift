/// An encoder of ECDSA signatures in ASN.1 DER (X.690): ECDSA-Sig-Value, `SEQUENCE { INTEGER r, INTEGER s }`
/// (RFC 3279 section 2.2.3).
package enum ECDSASignatureDER {
    static let sequence: UInt8 = 0x30
    static let integer: UInt8 = 0x02

    /// - Parameters:
    ///   - r: a big-endian number of at most 66 bytes, the size for P-521.
    ///   - s: a number in the same form as `r`.
    package static func text(r: ArraySlice<UInt8>, s: ArraySlice<UInt8>) -> [UInt8] {
        let numbers = integer(r) + integer(s)
        // A length of 128 or more takes two bytes, and the first is 0x81.
        let length = numbers.count < 0x80 ? [UInt8(numbers.count)] : [0x81, UInt8(numbers.count)]
        return [sequence] + length + numbers
    }

    private static func integer(_ number: ArraySlice<UInt8>) -> [UInt8] {
        let digits = number.drop { $0 == 0 }
        // INTEGERs are signed, so a first byte with its top bit set needs a zero byte before it. Zero is encoded as one
        // zero byte.
        let padding: [UInt8] = digits.first.map { $0 >= 0x80 } ?? true ? [0] : []
        return [integer, UInt8(padding.count + digits.count)] + padding + digits
    }
}
