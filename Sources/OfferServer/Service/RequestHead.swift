import NIOHTTP1

/// What we need of a request's head, read in one pass, and what NIO's parser lets through that RFC 9112 does not.
struct RequestHead {
    let method: HTTPMethod
    let target: String
    /// Whether the connection ends with the answer.
    private(set) var isLast: Bool
    private(set) var contentType: String?
    private(set) var contentEncoding: String?
    private(set) var authorization: String?
    /// Whether the client waits for a 100 before it sends the body.
    private(set) var expectsContinue = false

    init(_ head: HTTPRequestHead) throws(Problem) {
        method = head.method
        target = Self.originForm(of: head.uri)
        // Another protocol is never spoken here: who asks for one gets an ordinary answer, and no more on this connection.
        isLast = !head.isKeepAlive || head.version != .http1_1 || head.method == .CONNECT
        var hosts = 0
        for (name, value) in head.headers {
            // By length first: most headers are none of these.
            switch name.utf8.count {
            case 4 where name.isEqual(toLowerCase: "host"):
                hosts += 1
            case 6 where name.isEqual(toLowerCase: "expect"):
                guard value.isEqual(toLowerCase: "100-continue") else { throw .malformedHTTP }
                expectsContinue = head.version == .http1_1  // RFC 9110 section 15.2: no 1xx to a client of 1.0
            case 7 where name.isEqual(toLowerCase: "upgrade"):
                isLast = true
            case 12 where name.isEqual(toLowerCase: "content-type"):
                contentType = contentType.map { "\($0), \(value)" } ?? value
            case 13 where name.isEqual(toLowerCase: "authorization"):
                authorization = authorization == nil ? value : ""
            case 14 where name.isEqual(toLowerCase: "content-length"):
                guard let length = Int(value) else { throw .malformedHTTP }
                guard length <= IncomingRequest.maximumBodySize else { throw .bodyTooLarge }
            case 16 where name.isEqual(toLowerCase: "content-encoding"):
                contentEncoding = contentEncoding.map { "\($0), \(value)" } ?? value
            case 17 where name.isEqual(toLowerCase: "transfer-encoding"):
                // gzip, chunked would announce a body that is not what it looks like.
                guard value.isEqual(toLowerCase: "chunked") else { throw .malformedHTTP }
            default:
                continue
            }
        }
        // RFC 9112 section 3.2: exactly one Host; HTTP/1.0 had none.
        guard hosts == 1 || hosts == 0 && head.version == .http1_0 else { throw .malformedHTTP }
    }

    /// The path and query of a target; RFC 9112 section 3.2.2 lets a client write the whole URL.
    private static func originForm(of target: String) -> String {
        guard !target.hasPrefix("/") else { return target }
        for scheme in ["http://", "https://"] where target.prefix(scheme.count).isEqual(toLowerCase: scheme) {
            let rest = target.dropFirst(scheme.count)
            guard let end = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
            return rest[end] == "/" ? String(rest[end...]) : "/" + rest[end...]
        }
        return target
    }
}
