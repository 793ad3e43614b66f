import OfferCore

/// Encodes the members of a fact. Each member is a tag, a size and bytes.
///
/// Equal values have equal bytes. A tag never changes its meaning, and the tag of a removed member is never reused.
struct FactWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ tag: UInt8, _ utf8: [UInt8]?) {
        guard let utf8 else { return }
        bytes.append(tag)
        append(UInt64(utf8.count))
        bytes += utf8
    }

    mutating func write(_ tag: UInt8, _ text: String?) { write(tag, text.map { Array($0.utf8) }) }

    /// Writes a number in as few bytes as possible, the most significant first.
    mutating func write(_ tag: UInt8, _ number: Int64?) {
        guard let number else { return }
        let zigzag = UInt64(bitPattern: (number << 1) ^ (number >> 63))
        let size = (64 - zigzag.leadingZeroBitCount + 7) / 8
        write(tag, (0..<size).reversed().map { UInt8(truncatingIfNeeded: zigzag >> UInt64(8 * $0)) })
    }

    mutating func write(_ tag: UInt8, _ time: Timestamp?) { write(tag, time?.milliseconds) }

    mutating func write(_ tag: UInt8, _ flag: Bool?) { write(tag, flag.map { Int64($0 ? 1 : 0) }) }

    /// Writes an object, whose members have tags of their own. An object without members is written too.
    mutating func write<Object>(_ tag: UInt8, _ object: Object?, _ write: (inout FactWriter, Object) -> Void) {
        guard let object else { return }
        var members = FactWriter()
        write(&members, object)
        self.write(tag, members.bytes)
    }

    /// Appends a number in groups of seven bits, the least significant first. The eighth bit means that more groups
    /// follow.
    private mutating func append(_ size: UInt64) {
        var rest = size
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
