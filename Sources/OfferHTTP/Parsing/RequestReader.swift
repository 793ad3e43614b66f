package import NIOCore

/// A parser for the requests on one HTTP/1.1 connection, regardless of how their bytes are split.
package struct RequestReader {
    package enum Event {
        /// The client waits for 100 Continue before it sends the body of this request.
        case expectsContinue
        case request(RequestHead, body: [UInt8])
    }

    private enum Part {
        /// The number of bytes already searched for the end of the head.
        case head(searched: Int)
        case body(RequestHead, length: Int)
        case chunks(RequestHead, ChunkedBody)
    }

    private let maximumBodySize: (_ path: String) -> Int
    private var unread = ByteBuffer()
    private var part = Part.head(searched: 0)

    /// True if a head has been read but its body is incomplete.
    var isInBody: Bool { if case .head = part { false } else { true } }

    /// The memory that incomplete requests take, in bytes.
    var heldBytes: Int {
        switch part {
        case .head: bufferSize
        case .body(let head, _): head.size + bufferSize
        case .chunks(let head, let body): head.size + body.bytes.count + bufferSize
        }
    }

    private var bufferSize: Int { unread.readableBytes == 0 ? 0 : unread.storageCapacity }

    /// Moves the rest of an incomplete request to a buffer of its size. The buffers of the event loop and of TLS hold
    /// 16 KiB or more, and a client that sends little at a time would keep one occupied.
    mutating func compact() {
        if unread.readableBytes == 0 {
            unread = ByteBuffer()
        } else if unread.storageCapacity > 2 * unread.readableBytes + 256 {
            unread = ByteBuffer(bytes: unread.readableBytesView)
        }
    }

    /// True if any part of the next request has arrived. A lone CR does not count, because it may begin an empty line.
    var hasBegun: Bool {
        isInBody || unread.readableBytes > 1
            || unread.readableBytes == 1 && unread.readableBytesUInt8Span[0] != UInt8(ascii: "\r")
    }

    /// True if the request being read is a HEAD request. The response has no body, even if the request cannot be
    /// parsed.
    private(set) var isHead = false

    /// The head of the request being read; nil until it is complete. It provides the context of the response if the
    /// rest cannot be parsed.
    var head: RequestHead? {
        switch part {
        case .head: nil
        case .body(let head, _), .chunks(let head, _): head
        }
    }

    /// - Parameter maximumBodySize: the limit for a request to a path, in bytes.
    package init(maximumBodySize: @escaping (_ path: String) -> Int = { _ in HTTPRequest.maximumBodySize }) {
        self.maximumBodySize = maximumBodySize
    }

    package mutating func add(_ bytes: ByteBuffer) {
        if unread.readableBytes == 0 {
            unread = bytes
        } else {
            // Otherwise, the buffer would keep growing while part of the next request is always pending.
            unread.discardReadBytes()
            unread.writeImmutableBuffer(bytes)
        }
    }

    /// - Returns: nil if more bytes are needed.
    package mutating func next() throws(RequestFault) -> Event? {
        while true {
            switch part {
            case .head(let searched):
                guard let end = try endOfHead(from: searched) else { return nil }
                let head = try readHead(size: end)
                switch head.framing {
                case .length(let length):
                    part = .body(head, length: length)
                    guard length <= limit(of: head, needing: length) else { throw .bodyTooLarge }
                    // The body nearly always arrives with the head.
                    if let body = unread.readBytes(length: length) { return finish(head, body) }
                    if head.expectsContinue { return .expectsContinue }
                case .chunked:
                    part = .chunks(head, ChunkedBody(maximumSize: maximumBodySize(head.path)))
                    if head.expectsContinue, unread.readableBytes == 0 { return .expectsContinue }
                }
            case .body(let head, let length):
                guard let body = unread.readBytes(length: length) else { return nil }
                return finish(head, body)
            case .chunks(let head, var body):
                part = .chunks(head, ChunkedBody(maximumSize: 0))  // so that the body has one owner and grows in place
                guard try body.read(&unread) else {
                    part = .chunks(head, body)
                    return nil
                }
                return finish(head, body.bytes)
            }
        }
    }

    /// Returns the limit for a body. It is looked up only for a body beyond the usual limit.
    private func limit(of head: RequestHead, needing length: Int) -> Int {
        length <= HTTPRequest.maximumBodySize ? HTTPRequest.maximumBodySize : maximumBodySize(head.path)
    }

    private mutating func finish(_ head: RequestHead, _ body: [UInt8]) -> Event {
        part = .head(searched: 0)
        isHead = false
        // Releasing a fully read buffer lets the event loop reuse it; allocating another took 1 % of the time for an
        // offer.
        if unread.readableBytes == 0 { unread = ByteBuffer() }
        return .request(head, body: body)
    }

    /// - Returns: the size of the head including its empty line; nil if it is not complete.
    private mutating func endOfHead(from searched: Int) throws(RequestFault) -> Int? {
        skipEmptyLines()
        isHead = Self.isHead(unread.readableBytesUInt8Span)
        let unread = unread
        let bytes = unread.readableBytesUInt8Span
        // A client that speaks another protocol, such as TLS, is refused immediately.
        if bytes.count > 0, bytes[0] < UInt8(ascii: "!"), bytes[0] != UInt8(ascii: "\r") { throw .malformed }
        for index in searched..<max(searched, bytes.count) where bytes[index] == UInt8(ascii: "\n") {
            guard index < RequestHead.maximumSize else { throw RequestHead.faultIfTooLarge(bytes) }
            guard index > 0, bytes[index - 1] == UInt8(ascii: "\r") else {
                throw .malformed
            }
            if index >= 3, bytes[index - 2] == UInt8(ascii: "\n") { return index + 1 }
        }
        guard bytes.count <= RequestHead.maximumSize else { throw RequestHead.faultIfTooLarge(bytes) }
        part = .head(searched: unread.readableBytes)
        return nil
    }

    /// RFC 9112 section 2.2: a client may send empty lines before a request line.
    private mutating func skipEmptyLines() {
        while unread.readableBytes >= 2, unread.readableBytesUInt8Span[0] == UInt8(ascii: "\r"),
            unread.readableBytesUInt8Span[1] == UInt8(ascii: "\n")
        {
            unread.moveReaderIndex(forwardBy: 2)
        }
    }

    private static func isHead(_ bytes: borrowing Span<UInt8>) -> Bool {
        let method = "HEAD ".utf8Span.span
        return bytes.count >= method.count && method.indices.allSatisfy { bytes[$0] == method[$0] }
    }

    private mutating func readHead(size: Int) throws(RequestFault) -> RequestHead {
        let head = try RequestHead(unread.readableBytesUInt8Span.extracting(first: size))
        unread.moveReaderIndex(forwardBy: size)
        return head
    }
}
