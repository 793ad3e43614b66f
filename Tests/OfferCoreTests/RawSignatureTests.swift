import OfferCore
import TestSupport
import Testing

@Suite("Raw and DER signatures")
struct RawSignatureTests {
    private static func integer(_ number: [UInt8]) -> [UInt8] { [0x02, UInt8(number.count)] + number }

    private static func sequence(_ content: [UInt8]) -> [UInt8] { [0x30, UInt8(content.count)] + content }

    @Test("short numbers are padded to 32 bytes, and DER's leading zero is removed")
    func padding() throws {
        let full = [UInt8](repeating: 0xFF, count: 32)
        for (der, number) in [
            ([0x01], [UInt8](repeating: 0, count: 31) + [0x01]), ([0x7F], [UInt8](repeating: 0, count: 31) + [0x7F]),
            ([0x00, 0x80], [UInt8](repeating: 0, count: 31) + [0x80]), ([0x00] + full, full),
            (
                [UInt8](repeating: 0x11, count: 31),
                [0x00] + [UInt8](repeating: 0x11, count: 31)
            ),
            ([0x7F] + full.dropLast(), [0x7F] + full.dropLast()),
        ] as [([UInt8], [UInt8])] {
            for (r, s, raw) in [(der, [0x05], number + Self.five), ([0x05], der, Self.five + number)]
                as [([UInt8], [UInt8], [UInt8])]
            {
                let whole = Self.sequence(Self.integer(r) + Self.integer(s))
                let signature = try #require(RawSignature(der: whole))
                #expect(signature.bytes == raw)
                #expect(signature.der == whole)
            }
        }
    }

    private static let five = [UInt8](repeating: 0, count: 31) + [0x05]

    @Test(
        "anything but the canonical DER of two positive numbers of at most 32 bytes is refused",
        arguments: [
            [], [0x30], [0x30, 0x00], sequence(integer([1])), sequence(integer([1]) + integer([1]) + integer([1])),
            sequence(integer([0]) + integer([1])), sequence(integer([1]) + integer([0])),
            sequence(integer([]) + integer([1])), sequence(integer([0x80]) + integer([1])),
            sequence(integer([1]) + integer([0xFF, 0xFF])), sequence(integer([0x00, 0x7F]) + integer([1])),
            sequence(integer([0x00, 0x00, 0x80]) + integer([1])),
            sequence(integer([UInt8](repeating: 0x01, count: 33)) + integer([1])),
            sequence(integer([0x00] + [UInt8](repeating: 0xFF, count: 33)) + integer([1])),
            sequence(integer([1]) + integer([1])) + [0], sequence(integer([1]) + integer([1]) + [0]),
            [0x31, 0x06, 2, 1, 1, 2, 1, 1], [0x30, 0x06, 3, 1, 1, 2, 1, 1], [0x30, 0x06, 2, 1, 1, 4, 1, 1],
            [0x30, 0x81, 0x06, 2, 1, 1, 2, 1, 1], [0x30, 0x80, 2, 1, 1, 2, 1, 1, 0, 0], [0x30, 0x05, 2, 1, 1, 2, 1],
            [0x30, 0x06, 2, 5, 1, 2, 1, 1], [0x30, 0x07, 2, 0x81, 1, 1, 2, 1, 1],
        ] as [[UInt8]])
    func refused(der: [UInt8]) {
        #expect(RawSignature(der: der) == nil)
    }

    @Test("a raw signature has exactly 64 bytes", arguments: [0, 63, 64, 65, 72])
    func size(count: Int) {
        #expect((RawSignature(bytes: [UInt8](repeating: 1, count: count)) != nil) == (count == 64))
    }

    @Test("10,000 random signatures survive a round trip through DER", arguments: 0..<2 as Range<UInt64>)
    func roundTrip(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        for round in 0..<5_000 {
            if round % 64 == 0 { await Task.yield() }
            var bytes = (0..<64).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            // Add more leading zeros than chance would. An odd last byte keeps each number from being zero.
            for index in 0..<Int.random(in: 0...31, using: &random) { bytes[index] = 0 }
            for index in 0..<Int.random(in: 0...31, using: &random) { bytes[32 + index] = 0 }
            (bytes[31], bytes[63]) = (bytes[31] | 1, bytes[63] | 1)
            let der = try #require(RawSignature(bytes: bytes)).der
            #expect(der.count <= 72)
            guard RawSignature(der: der)?.bytes == bytes else {
                Issue.record("\(bytes.hex) changed in the round trip through \(der.hex)")
                return
            }
        }
    }
}
