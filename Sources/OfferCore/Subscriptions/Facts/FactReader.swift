/// Reads what ``FactWriter`` wrote. Members with unknown tags are skipped, so an older version can read newer facts.
struct FactReader {
    private var members: [UInt8: [ArraySlice<UInt8>]] = [:]

    init(_ bytes: [UInt8]) throws(FactEncodingError) {
        var rest = bytes[...]
        while let tag = rest.popFirst() {
            let size = try Self.size(&rest)
            guard size <= rest.count else { throw .truncated }
            members[tag, default: []].append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
    }

    func bytes(_ tag: UInt8) -> [UInt8]? { members[tag]?.first.map(Array.init) }

    func text(_ tag: UInt8) throws(FactEncodingError) -> String? { try texts(tag).first }

    func texts(_ tag: UInt8) throws(FactEncodingError) -> [String] {
        var texts: [String] = []
        for member in members[tag] ?? [] {
            guard let text = String(validating: member, as: UTF8.self) else { throw .invalid(tag: tag) }
            texts.append(text)
        }
        return texts
    }

    func number(_ tag: UInt8) throws(FactEncodingError) -> Int64? {
        guard let bytes = members[tag]?.first else { return nil }
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

    func required<Member>(_ tag: UInt8, _ member: Member?) throws(FactEncodingError) -> Member {
        guard let member else { throw .missing(tag: tag) }
        return member
    }

    private static func size(_ rest: inout ArraySlice<UInt8>) throws(FactEncodingError) -> Int {
        var size = 0
        for shift in stride(from: 0, to: 35, by: 7) {
            guard let byte = rest.popFirst() else { throw .truncated }
            size |= Int(byte & 0x7F) << shift
            if byte < 0x80 { return size }
        }
        throw .truncated
    }
}

/// The reason that stored bytes are no fact.
package enum FactEncodingError: Error, Hashable, Sendable {
    case truncated
    case missing(tag: UInt8)
    case invalid(tag: UInt8)
}
