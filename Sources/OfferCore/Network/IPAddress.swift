/// An IP address, stored as the 16 bytes of IPv6.
///
/// IPv4 addresses are stored as IPv4-mapped addresses (RFC 4291 section 2.5.5.2), so both notations compare equal.
package struct IPAddress: Hashable, Sendable {
    /// The first eight bytes, then the last eight.
    private let halves: SIMD2<UInt64>

    private init(halves: SIMD2<UInt64>) {
        self.halves = halves
    }

    /// - Parameter text: four decimal numbers, or IPv6 as in RFC 4291 section 2.2; without brackets, port or zone.
    package init?(_ text: some StringProtocol) {
        guard let groups = Self.v4(text).map({ [0, 0, 0, 0, 0, 0xFFFF] + $0 }) ?? Self.v6(text) else { return nil }
        func half(_ groups: ArraySlice<UInt16>) -> UInt64 { groups.reduce(0) { $0 << 16 | UInt64($1) } }
        halves = SIMD2(half(groups[..<4]), half(groups[4...]))
    }

    package var isV4: Bool { halves.x == 0 && halves.y >> 32 == 0xFFFF }

    /// True if this is a loopback address, which only this machine can reach.
    package var isLoopback: Bool { isV4 ? halves.y >> 24 & 0xFF == 127 : halves == SIMD2(0, 1) }

    /// The eight groups of 16 bits.
    var groups: [UInt16] {
        (0..<8).map { index in
            let half: UInt64 = index < 4 ? halves.x : halves.y
            return UInt16(truncatingIfNeeded: half >> UInt64(48 - 16 * (index % 4)))
        }
    }

    /// The part of the address that identifies one subscriber: an entire IPv4 address, or the first 64 bits of an IPv6
    /// address (RFC 6177).
    package var subscriber: IPAddress { prefix(bits: isV4 ? 128 : 64) }

    /// Returns the address with all bits after the first `count` set to zero.
    func prefix(bits count: Int) -> IPAddress {
        // In Swift, `<<` by 64 or more yields zero.
        IPAddress(halves: halves & SIMD2(UInt64.max << (64 - min(count, 64)), UInt64.max << (128 - max(count, 64))))
    }

    private static func v4(_ text: some StringProtocol) -> [UInt16]? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let bytes = parts.compactMap { part -> UInt16? in
            // No leading zeros: some parsers read 010 as octal.
            guard (1...3).contains(part.count), part.allSatisfy(isDigit), part.count == 1 || part.first != 0x30 else {
                return nil
            }
            return UInt8(String(decoding: part, as: UTF8.self)).map(UInt16.init)
        }
        guard bytes.count == 4 else { return nil }
        return [bytes[0] << 8 | bytes[1], bytes[2] << 8 | bytes[3]]
    }

    private static func v6(_ text: some StringProtocol) -> [UInt16]? {
        // A single :: stands for all missing groups of zeros.
        let halves = String(text).split(separator: "::", omittingEmptySubsequences: false)
        let parts = halves.map(groups)
        switch (parts.first ?? nil, parts.count) {
        case (let all?, 1):
            return all.count == 8 ? all : nil
        case (let before?, 2):
            guard let after = parts[1], before.count + after.count < 8 else { return nil }
            return before + Array(repeating: 0, count: 8 - before.count - after.count) + after
        default:
            return nil
        }
    }

    /// Parses groups of up to four hexadecimal digits, joined by colons. The last two groups may be written as an IPv4
    /// address.
    private static func groups(_ text: Substring) -> [UInt16]? {
        if text.isEmpty { return [] }
        var groups: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, let last = v4(part) {
                groups += last
            } else if (1...4).contains(part.utf8.count), part.utf8.allSatisfy(isHexadecimal),
                let group = UInt16(part, radix: 16)
            {
                groups.append(group)
            } else {
                return nil
            }
        }
        return groups
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
