package import NIOCore

/// Reads requests out of the bytes of one connection, in whatever pieces they come.
package struct RequestReader {
    package enum Event {
        /// A client waits for a 100 before it sends the body of this request.
        case expectsContinue
        case request(RequestHead, body: [UInt8])
    }

    private enum Part {
        /// How many bytes have been looked through for the end of the head.
        case head(searched: Int)
        case body(RequestHead, length: Int)
        case chunks(RequestHead, ChunkedBody)
    }

    private var unread = ByteBuffer()
    private var part = Part.head(searched: 0)

    /// Whether a head has come whole and its body has not.
    var isInBody: Bool { if case .head = part { false } else { true } }

    /// Whether anything of the next request has come. The first half of an empty line is nothing yet.
    var hasBegun: Bool {
        isInBody || unread.readableBytes > 1
            || unread.readableBytes == 1 && unread.readableBytesUInt8Span[0] != UInt8(ascii: "\r")
    }

    /// Whether what is being read is a request for a head alone; for the answer to one that cannot be read.
    private(set) var asksForHead = false

    /// That of the request which is being read, once it is there; for the answer to one that cannot be read.
    var head: RequestHead? {
        switch part {
        case .head: nil
        case .body(let head, _), .chunks(let head, _): head
        }
    }

    package init() {}

    package mutating func add(_ bytes: ByteBuffer) {
        if unread.readableBytes == 0 {
            unread = bytes
        } else {
            // Or it would grow for as long as there is always some of the next request in it.
            unread.discardReadBytes()
            unread.writeImmutableBuffer(bytes)
        }
    }

    /// - Returns: nil if there is no more to be read before more bytes come.
    package mutating func next() throws(Problem) -> Event? {
        while true {
            switch part {
            case .head(let searched):
                guard let end = try endOfHead(from: searched) else { return nil }
                let head = try readHead(size: end)
                switch head.framing {
                case .length(let length):
                    part = .body(head, length: length)
                    guard length <= IncomingRequest.maximumBodySize else { throw .bodyTooLarge }
                    // Nearly always the body has come with the head.
                    if let body = unread.readBytes(length: length) { return finish(head, body) }
                    if head.expectsContinue { return .expectsContinue }
                case .chunked:
                    part = .chunks(head, ChunkedBody())
                    if head.expectsContinue, unread.readableBytes == 0 { return .expectsContinue }
                }
            case .body(let head, let length):
                guard let body = unread.readBytes(length: length) else { return nil }
                return finish(head, body)
            case .chunks(let head, var body):
                part = .chunks(head, ChunkedBody())  // so that the body has one owner and grows in place
                guard try body.read(&unread) else {
                    part = .chunks(head, body)
                    return nil
                }
                return finish(head, body.bytes)
            }
        }
    }

    private mutating func finish(_ head: RequestHead, _ body: [UInt8]) -> Event {
        part = .head(searched: 0)
        asksForHead = false
        // What has been read to its end is let go of: the event loop reads into the same buffer then, and need not make
        // another, which took 1 % of an offer's time.
        if unread.readableBytes == 0 { unread = ByteBuffer() }
        return .request(head, body: body)
    }

    /// - Returns: the size of the head, its empty line among it; nil if that has not come.
    private mutating func endOfHead(from searched: Int) throws(Problem) -> Int? {
        skipEmptyLines()
        asksForHead = Self.asksForHead(unread.readableBytesUInt8Span)
        let unread = unread
        let bytes = unread.readableBytesUInt8Span
        // What speaks another protocol, TLS for one, hears of it at once.
        if bytes.count > 0, bytes[0] < UInt8(ascii: "!"), bytes[0] != UInt8(ascii: "\r") { throw .malformedHTTP }
        for index in searched..<max(searched, bytes.count) where bytes[index] == UInt8(ascii: "\n") {
            guard index < RequestHead.maximumSize else { throw RequestHead.problemIfTooLarge(bytes) }
            guard index > 0, bytes[index - 1] == UInt8(ascii: "\r") else {
                throw .malformedHTTP
            }
            if index >= 3, bytes[index - 2] == UInt8(ascii: "\n") { return index + 1 }
        }
        guard bytes.count <= RequestHead.maximumSize else { throw RequestHead.problemIfTooLarge(bytes) }
        part = .head(searched: unread.readableBytes)
        return nil
    }

    /// RFC 9112 section 2.2: a client may send empty lines in front of a request line.
    private mutating func skipEmptyLines() {
        while unread.readableBytes >= 2, unread.readableBytesUInt8Span[0] == UInt8(ascii: "\r"),
            unread.readableBytesUInt8Span[1] == UInt8(ascii: "\n")
        {
            unread.moveReaderIndex(forwardBy: 2)
        }
    }

    private static func asksForHead(_ bytes: borrowing Span<UInt8>) -> Bool {
        let method = "HEAD ".utf8Span.span
        return bytes.count >= method.count && method.indices.allSatisfy { bytes[$0] == method[$0] }
    }

    private mutating func readHead(size: Int) throws(Problem) -> RequestHead {
        let head = try RequestHead(unread.readableBytesUInt8Span.extracting(first: size))
        unread.moveReaderIndex(forwardBy: size)
        return head
    }
}
