import OfferCore

/// The head of a request, parsed strictly by RFC 9112 in one pass over its bytes.
///
/// We parse it ourselves in order to refuse everything that two parsers could read as two different requests: bare line
/// endings, folded lines, two lengths, unknown codings.
package struct RequestHead {
    /// The way the length of the body is determined (RFC 9112 section 6).
    package enum Framing: Equatable {
        /// The length in bytes; 0 if none is given.
        case length(Int)
        case chunked
    }

    package let method: String
    /// The target in origin form, such as `/offer?offerID=a`.
    package let target: String
    /// The target without its query.
    var path: String { String(target.prefix { $0 != "?" }) }
    /// The size of the head in bytes, including all its lines.
    let size: Int
    package private(set) var framing = Framing.length(0)
    /// True if the connection closes after the response.
    package private(set) var isLast: Bool
    /// The requested host, without its port. An absolute URL as the target takes precedence over `Host` (RFC 9112
    /// section 3.2.2). The host is empty for an empty `Host`, which a client sends if its URL has no authority. It is
    /// nil if there is neither.
    package private(set) var host: String?
    private(set) var contentType: String?
    private(set) var contentEncoding: String?
    private(set) var authorization: String?
    private(set) var forwardedFor: String?
    /// The value of the `Idempotency-Key` header; empty if there are several.
    private(set) var idempotencyKey: String?
    /// The value of the `X-Request-ID` header; empty if there are several.
    private(set) var requestID: String?
    /// The value of the `traceparent` header; empty if there are several.
    private(set) var traceparent: String?
    /// The values of the `Cookie` headers, in order.
    private(set) var cookies: [String] = []
    /// The value of the `Sec-Fetch-Site` header; empty if there are several.
    private(set) var fetchSite: String?
    /// The value of the `If-None-Match` header; empty if there are several.
    private(set) var ifNoneMatch: String?
    /// The value of the `Origin` header; empty if there are several.
    private(set) var origin: String?
    /// True if the client waits for 100 Continue before it sends the body.
    private(set) var expectsContinue = false

    /// The maximum size of a head in bytes, and the maximum number of its lines.
    package static let maximumSize = 32 * 1024
    static let maximumLines = 100

    /// - Parameter bytes: everything from the request line through the empty line, including its line end.
    init(_ bytes: borrowing Span<UInt8>) throws(RequestFault) {
        var index = 0
        size = bytes.count
        method = try Self.text(bytes, Self.method(bytes, &index))
        let written = try Self.text(bytes, Self.target(bytes, &index))
        target = Self.originForm(of: written)
        // A target is a path, an absolute URL, an authority or an asterisk (RFC 9112 section 3.2).
        guard target.hasPrefix("/") || method == "CONNECT" || target == "*" || written.contains("://") else {
            throw .malformed
        }
        let hostOfTarget = try Self.host(ofURL: written)
        let isHTTP11 = try Self.isHTTP11(bytes, &index)
        // The server speaks no other protocol. A request to switch protocols gets an ordinary response, and then the
        // connection closes.
        isLast = !isHTTP11 || method == "CONNECT"
        var hosts = 0
        var hasLength = false
        var lines = 0
        while try !Self.isEmptyLine(bytes, index) {
            lines += 1
            let name = try Self.name(bytes, &index)
            let value = try Self.value(bytes, &index)
            guard lines <= Self.maximumLines else { throw .malformed }
            // Compare lengths first, because most header names match none of these.
            switch name.count {
            case 4 where Self.isEqual(bytes, name, "host"):
                hosts += 1
                host = try Self.host(bytes, value)
            case 6 where Self.isEqual(bytes, name, "expect"):
                guard Self.isEqual(bytes, value, "100-continue") else { throw .malformed }
                expectsContinue = isHTTP11  // RFC 9110 section 15.2: no 1xx responses to HTTP/1.0
            case 6 where Self.isEqual(bytes, name, "cookie"):
                cookies.append(Self.textIfAny(bytes, value))
            case 6 where Self.isEqual(bytes, name, "origin"):
                origin = origin == nil ? Self.textIfAny(bytes, value) : ""
            case 7 where Self.isEqual(bytes, name, "upgrade"):
                isLast = true
            case 10 where Self.isEqual(bytes, name, "connection"):
                if try Self.text(bytes, value).lowercased().split(separator: ",").contains(where: Self.isClose) {
                    isLast = true
                }
            case 11 where Self.isEqual(bytes, name, "traceparent"):
                traceparent = traceparent == nil ? Self.textIfAny(bytes, value) : ""
            case 12 where Self.isEqual(bytes, name, "x-request-id"):
                requestID = requestID == nil ? Self.textIfAny(bytes, value) : ""
            case 12 where Self.isEqual(bytes, name, "content-type"):
                let type = try Self.mediaType(bytes, value)
                contentType = contentType.map { "\($0), \(type)" } ?? type
            case 13 where Self.isEqual(bytes, name, "if-none-match"):
                ifNoneMatch = ifNoneMatch == nil ? Self.textIfAny(bytes, value) : ""
            case 13 where Self.isEqual(bytes, name, "authorization"):
                authorization = try authorization == nil ? Self.text(bytes, value) : ""
            case 14 where Self.isEqual(bytes, name, "sec-fetch-site"):
                fetchSite = fetchSite == nil ? Self.textIfAny(bytes, value) : ""
            case 14 where Self.isEqual(bytes, name, "content-length"):
                guard !hasLength, framing != .chunked else { throw .malformed }
                hasLength = true
                framing = .length(try Self.length(bytes, value))
            case 15 where Self.isEqual(bytes, name, "idempotency-key"):
                idempotencyKey = try idempotencyKey == nil ? Self.text(bytes, value) : ""
            case 15 where Self.isEqual(bytes, name, "x-forwarded-for"):
                let addresses = try Self.text(bytes, value)
                forwardedFor = forwardedFor.map { "\($0), \(addresses)" } ?? addresses
            case 16 where Self.isEqual(bytes, name, "content-encoding"):
                let encoding = try Self.text(bytes, value)
                contentEncoding = contentEncoding.map { "\($0), \(encoding)" } ?? encoding
            case 17 where Self.isEqual(bytes, name, "transfer-encoding"):
                // `gzip, chunked` would mean a compressed body.
                guard isHTTP11, !hasLength, framing != .chunked, Self.isEqual(bytes, value, "chunked"),
                    !Self.isFollowedByTab(bytes, value)
                else {
                    throw .malformed
                }
                framing = .chunked
            default:
                continue
            }
        }
        // RFC 9112 section 3.2: exactly one Host; HTTP/1.0 does not require it.
        guard hosts == 1 || hosts == 0 && !isHTTP11 else { throw .malformed }
        if let hostOfTarget { host = hostOfTarget }
    }

    /// Classifies a head that is too large. Oversized credentials have their own fault; anything else is malformed.
    /// - Parameter bytes: more than ``maximumSize`` bytes from the start of the head.
    static func faultIfTooLarge(_ bytes: borrowing Span<UInt8>) -> RequestFault {
        let name = "authorization:"
        var start = maximumSize
        while start > 0, bytes[start - 1] != UInt8(ascii: "\n") { start -= 1 }
        let end = start + name.utf8.count
        return end <= bytes.count && isEqual(bytes, start..<end, name) ? .oversizedCredentials : .malformed
    }

    // MARK: Request line

    private static func method(_ bytes: borrowing Span<UInt8>, _ index: inout Int) throws(RequestFault) -> Range<Int> {
        let start = index
        while index < bytes.count, isTokenCharacter(bytes[index]) { index += 1 }
        guard (1...32).contains(index - start) else { throw .malformed }
        let method = start..<index
        try take(UInt8(ascii: " "), bytes, &index)
        return method
    }

    private static func target(_ bytes: borrowing Span<UInt8>, _ index: inout Int) throws(RequestFault) -> Range<Int> {
        let start = index
        while index < bytes.count, (0x21...0x7E).contains(bytes[index]) { index += 1 }
        guard index > start else { throw .malformed }
        let target = start..<index
        try take(UInt8(ascii: " "), bytes, &index)
        return target
    }

    private static func isHTTP11(_ bytes: borrowing Span<UInt8>, _ index: inout Int) throws(RequestFault) -> Bool {
        for expected in "HTTP/1.".utf8 { try take(expected, bytes, &index) }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "0") || bytes[index] == UInt8(ascii: "1") else {
            throw .malformed
        }
        let isHTTP11 = bytes[index] == UInt8(ascii: "1")
        index += 1
        try takeLineEnd(bytes, &index)
        return isHTTP11
    }

    /// Returns the path and query of a target, which may be an absolute URL (RFC 9112 section 3.2.2).
    private static func originForm(of target: String) -> String {
        guard !target.hasPrefix("/") else { return target }
        for scheme in ["http://", "https://"] where target.prefix(scheme.count).isEqual(toLowerCase: scheme) {
            let rest = target.dropFirst(scheme.count)
            guard let end = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
            return rest[end] == "/" ? String(rest[end...]) : "/" + rest[end...]
        }
        return target
    }

    /// Returns the host of an absolute URL; nil for any other target. Without a host, the URL is invalid (RFC 9110
    /// section 4.2.1).
    private static func host(ofURL target: String) throws(RequestFault) -> String? {
        guard !target.hasPrefix("/") else { return nil }
        for scheme in ["http://", "https://"] where target.prefix(scheme.count).isEqual(toLowerCase: scheme) {
            let authority = target.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
            guard let host = URIHost.text(in: authority), !host.isEmpty else { throw .malformed }
            return host
        }
        return nil
    }

    // MARK: Lines

    private static func isEmptyLine(_ bytes: borrowing Span<UInt8>, _ index: Int) throws(RequestFault) -> Bool {
        guard index < bytes.count else { throw .malformed }
        guard bytes[index] == UInt8(ascii: "\r") else { return false }
        // The reader ended the head at the first empty line, so a CR anywhere else is bare.
        guard index + 2 == bytes.count else { throw .malformed }
        return true
    }

    /// Consumes a field name and the colon that must immediately follow it. A line that begins with white space is a
    /// folded line, so it is refused.
    private static func name(_ bytes: borrowing Span<UInt8>, _ index: inout Int) throws(RequestFault) -> Range<Int> {
        let start = index
        while index < bytes.count, isTokenCharacter(bytes[index]) { index += 1 }
        guard index > start else { throw .malformed }
        let name = start..<index
        try take(UInt8(ascii: ":"), bytes, &index)
        return name
    }

    /// Consumes a field value and its line end. Returns the value without surrounding white space.
    private static func value(_ bytes: borrowing Span<UInt8>, _ index: inout Int) throws(RequestFault) -> Range<Int> {
        while index < bytes.count, isBlank(bytes[index]) { index += 1 }
        let start = index
        while index < bytes.count, bytes[index] >= 0x20 && bytes[index] != 0x7F || bytes[index] == 0x09 { index += 1 }
        var end = index
        while end > start, isBlank(bytes[end - 1]) { end -= 1 }
        try takeLineEnd(bytes, &index)
        return start..<end
    }

    private static func takeLineEnd(_ bytes: borrowing Span<UInt8>, _ index: inout Int) throws(RequestFault) {
        try take(UInt8(ascii: "\r"), bytes, &index)
        try take(UInt8(ascii: "\n"), bytes, &index)
    }

    private static func take(_ byte: UInt8, _ bytes: borrowing Span<UInt8>, _ index: inout Int) throws(RequestFault) {
        guard index < bytes.count, bytes[index] == byte else { throw .malformed }
        index += 1
    }

    // MARK: Values

    private static func text(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) throws(RequestFault) -> String {
        do { return String(copying: try UTF8Span(validating: bytes.extracting(range))) } catch { throw .malformed }
    }

    private static func host(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) throws(RequestFault) -> String {
        guard let host = URIHost.range(in: bytes, range) else { throw .malformed }
        return try text(bytes, host)
    }

    /// Like ``text``, but returns an empty string for a value that is not UTF-8. Used for headers that may contain
    /// anything.
    private static func textIfAny(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> String {
        (try? text(bytes, range)) ?? ""
    }

    /// Like ``text``, but without allocating memory for the value that nearly all requests have.
    private static func mediaType(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) throws(RequestFault) -> String {
        isEqual(bytes, range, json) ? json : try text(bytes, range)
    }

    private static let json = "application/json"

    private static func length(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) throws(RequestFault) -> Int {
        guard (1...18).contains(range.count), !isFollowedByTab(bytes, range) else { throw .malformed }
        var length = 0
        for index in range {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) else { throw .malformed }
            length = length * 10 + Int(bytes[index] - UInt8(ascii: "0"))
        }
        return length
    }

    private static func isClose(_ option: Substring) -> Bool {
        option.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" } == "close"
    }

    /// Returns true if the bytes equal `lowerCase`, a lower-case ASCII string, ignoring ASCII case.
    private static func isEqual(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>, _ lowerCase: String) -> Bool {
        guard range.count == lowerCase.utf8.count else { return false }
        var index = range.lowerBound
        for expected in lowerCase.utf8 {
            let byte = bytes[index]
            guard
                byte == expected || (byte | 0x20 == expected && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte))
            else { return false }
            index += 1
        }
        return true
    }

    /// Returns true if a tab follows a value. Other parsers refuse a tab after a framing header's value, so we do too.
    private static func isFollowedByTab(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> Bool {
        range.upperBound < bytes.count && bytes[range.upperBound] == 0x09
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns true for a character of a token (RFC 9110 section 5.6.2).
    static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "!"),
            UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
