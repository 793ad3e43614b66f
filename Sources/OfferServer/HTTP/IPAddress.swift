/// An IP address, in the 16 bytes of IPv6; one of IPv4 is mapped into them (RFC 4291 section 2.5.5.2), so that both spellings
/// of it are equal.
package struct IPAddress: Hashable, Sendable {
    /// In network order.
    private let groups: [UInt16]

    /// - Parameter text: four decimal numbers, or IPv6 as RFC 4291 section 2.2 has it; without brackets, port or zone.
    package init?(_ text: some StringProtocol) {
        if let v4 = Self.v4(text) {
            groups = [0, 0, 0, 0, 0, 0xFFFF] + v4
        } else if let v6 = Self.v6(text) {
            groups = v6
        } else {
            return nil
        }
    }

    package var isV4: Bool { groups[..<6].elementsEqual([0, 0, 0, 0, 0, 0xFFFF]) }

    /// Whether only this machine can have it.
    package var isLoopback: Bool {
        isV4 ? groups[6] >> 8 == 127 : groups.elementsEqual([0, 0, 0, 0, 0, 0, 0, 1])
    }

    /// The first `count` of 128 bits.
    func prefix(bits count: Int) -> [UInt16] {
        groups.enumerated().map { index, group in
            let bits = min(max(count - index * 16, 0), 16)
            return bits == 16 ? group : group & ~(0xFFFF >> UInt16(bits))
        }
    }

    private static func v4(_ text: some StringProtocol) -> [UInt16]? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let bytes = parts.compactMap { part -> UInt16? in
            // 010 is 8 to some and 10 to others.
            guard (1...3).contains(part.count), part.allSatisfy(isDigit), part.count == 1 || part.first != 0x30 else {
                return nil
            }
            return UInt8(String(decoding: part, as: UTF8.self)).map(UInt16.init)
        }
        guard bytes.count == 4 else { return nil }
        return [bytes[0] << 8 | bytes[1], bytes[2] << 8 | bytes[3]]
    }

    private static func v6(_ text: some StringProtocol) -> [UInt16]? {
        // A :: stands for as many groups of zeros as are missing, and at most once.
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

    /// Groups of up to four hexadecimal digits, joined by colons; the last two may be written as an IPv4 address.
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
