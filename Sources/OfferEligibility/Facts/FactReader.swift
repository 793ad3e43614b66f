import OfferCore

/// Reads what ``FactWriter`` wrote. Members with unknown tags are skipped, so an older version can read newer facts.
struct FactReader {
    private let encoded: [UInt8]
    /// The members in the order in which they were written. They are few, so a linear search is fast.
    private var members: [(tag: UInt8, place: Range<Int>)] = []

    init(_ encoded: [UInt8]) throws(FactEncodingError) {
        self.encoded = encoded
        members.reserveCapacity(Self.typicalCount)
        var next = 0
        while next < encoded.count {
            let tag = encoded[next]
            next += 1
            let size = try Self.size(encoded, &next)
            guard size <= encoded.count - next else { throw .truncated }
            members.append((tag, next..<next + size))
            next += size
        }
    }

    /// The typical number of members in a purchase.
    private static let typicalCount = 20

    private func member(_ tag: UInt8) -> ArraySlice<UInt8>? {
        for member in members where member.tag == tag { return encoded[member.place] }
        return nil
    }

    func bytes(_ tag: UInt8) -> [UInt8]? { member(tag).map(Array.init) }

    func text(_ tag: UInt8) throws(FactEncodingError) -> String? { try texts(tag).first }

    func texts(_ tag: UInt8) throws(FactEncodingError) -> [String] {
        var texts: [String] = []
        for member in members where member.tag == tag {
            guard let text = String(validating: encoded[member.place], as: UTF8.self) else { throw .invalid(tag: tag) }
            texts.append(text)
        }
        return texts
    }

    func number(_ tag: UInt8) throws(FactEncodingError) -> Int64? {
        guard let bytes = member(tag) else { return nil }
        guard bytes.count <= 8 else { throw .invalid(tag: tag) }
        let zigzag = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(bitPattern: zigzag >> 1) ^ -Int64(zigzag & 1)
    }

    func time(_ tag: UInt8) throws(FactEncodingError) -> Timestamp? {
        try number(tag).map(Timestamp.init(milliseconds:))
    }

    func flag(_ tag: UInt8) throws(FactEncodingError) -> Bool? { try number(tag).map { $0 != 0 } }

    func field<Field>(
        _ tag: UInt8, _ make: ([UInt8]) throws -> Field?
    ) throws(FactEncodingError) -> Field? {
        guard let bytes = bytes(tag) else { return nil }
        guard let field = try? make(bytes) else { throw .invalid(tag: tag) }
        return field
    }

    /// Reads all objects with a tag.
    func objects<Object>(
        _ tag: UInt8, _ read: (FactReader) throws(FactEncodingError) -> Object
    ) throws(FactEncodingError) -> [Object] {
        var objects: [Object] = []
        for member in members where member.tag == tag {
            objects.append(try read(FactReader(Array(encoded[member.place]))))
        }
        return objects
    }

    func required<Member>(_ tag: UInt8, _ member: Member?) throws(FactEncodingError) -> Member {
        guard let member else { throw .missing(tag: tag) }
        return member
    }

    private static func size(_ encoded: [UInt8], _ next: inout Int) throws(FactEncodingError) -> Int {
        var size = 0
        for shift in stride(from: 0, to: 35, by: 7) {
            guard next < encoded.count else { throw .truncated }
            let byte = encoded[next]
            next += 1
            size |= Int(byte & 0x7F) << shift
            if byte < 0x80 { return size }
        }
        throw .truncated
    }
}

/// An error in the stored bytes of a fact.
package enum FactEncodingError: Error, Hashable, Sendable {
    case truncated
    case missing(tag: UInt8)
    case invalid(tag: UInt8)
}
