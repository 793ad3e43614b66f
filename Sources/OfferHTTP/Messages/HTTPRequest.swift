package import NIOCore
package import OfferCore

/// A complete HTTP request (RFC 9110), independent of the connection that carried it.
package struct HTTPRequest: Sendable {
    /// The method as sent; case-sensitive.
    package let method: String
    /// The path of the request target, still percent-encoded.
    package let path: String
    /// The part of the target after the first `?`, still encoded; nil if there is none.
    package let query: String?
    /// The requested host, without its port; nil if the client sent none.
    package let host: String?
    package let contentType: String?
    package let contentEncoding: String?
    /// The value of the `Authorization` header. With several such headers, it is empty and matches no credentials.
    package let authorization: String?
    /// The peer's address; nil if the kernel does not report one.
    package let peer: IPAddress?
    /// The values of `X-Forwarded-For`, joined by commas. Any client can set them: see ``TrustedProxies``.
    package let forwardedFor: String?
    /// The value of the `Idempotency-Key` header; nil if there is none, and empty if there are several.
    package let idempotencyKey: String?
    /// The headers that browsers send; nil if there are none.
    package let browser: BrowserHeaders?
    package let context: RequestContext
    /// The client's standing, shared by all requests of a connection; nil outside a server.
    package let standing: ClientStanding?
    /// The time at which the request's head was read.
    package let received = NIODeadline.now()
    package var body: [UInt8]

    /// The request's identifier in its response and in the log.
    package var id: RequestID { context.id }

    /// The approximate size in memory, in bytes.
    var size: Int {
        512 + body.count + method.utf8.count + path.utf8.count + Self.size(query) + Self.size(host)
            + Self.size(contentType) + Self.size(contentEncoding) + Self.size(authorization) + Self.size(forwardedFor)
            + Self.size(idempotencyKey) + (browser?.size ?? 0)
    }

    private static func size(_ text: String?) -> Int { text?.utf8.count ?? 0 }

    /// The largest accepted body, in bytes, unless ``Responder/maximumBodySize(of:)`` gives another limit for the path.
    /// A list of 20 offers with the longest possible fields takes 27 kB.
    package static let maximumBodySize = 32 * 1024

    /// - Parameter target: the request target in origin form, such as `/offer?offerID=a`.
    package init(
        method: String, target: String, host: String? = nil, contentType: String? = nil, contentEncoding: String? = nil,
        authorization: String? = nil, peer: IPAddress? = nil, forwardedFor: String? = nil,
        idempotencyKey: String? = nil, browser: BrowserHeaders? = nil,
        context: RequestContext = RequestContext(), standing: ClientStanding? = nil, body: [UInt8] = []
    ) {
        self.method = method
        let utf8 = target.utf8
        if let mark = utf8.firstIndex(of: UInt8(ascii: "?")) {
            path = String(target[..<mark])
            query = String(target[utf8.index(after: mark)...])
        } else {
            path = target
            query = nil
        }
        self.host = host
        self.contentType = contentType
        self.contentEncoding = contentEncoding
        self.authorization = authorization
        self.peer = peer
        self.forwardedFor = forwardedFor
        self.idempotencyKey = idempotencyKey
        self.browser = browser
        self.context = context
        self.standing = standing
        self.body = body
    }
}
