package import OfferCore

/// An HTTP request (RFC 9110) whose body has arrived whole, free of the framework that carried it.
package struct IncomingRequest: Sendable {
    /// The method as it was sent; it is case-sensitive.
    package let method: String
    /// The path of the request target, percent-encoding untouched.
    package let path: String
    /// What follows the first `?` of the target, still encoded; nil where there is none.
    package let query: String?
    package let contentType: String?
    package let contentEncoding: String?
    /// The value of the one `Authorization` header; empty, which nobody's is, where there are several.
    package let authorization: String?
    /// Where it comes from by its own connection; nil if the kernel does not say.
    package let peer: IPAddress?
    /// The values of `X-Forwarded-For`, joined by commas. Anybody may write them: see ``TrustedProxies``.
    package let forwardedFor: String?
    /// What is written about it anywhere says this of it.
    package let context: RequestContext
    /// Whether it has waited for so long that to answer it in full would only make others wait as well.
    package internal(set) var isLate: Bool
    /// At most ``maximumBodySize`` bytes.
    package let body: [UInt8]

    /// What names it in the answer and in the log.
    package var id: RequestID { context.id }

    /// The largest body that is read. A list of 20 offers with the longest fields there may be has 27 kB.
    package static let maximumBodySize = 32 * 1024

    /// - Parameter target: the request target in origin form, such as `/offer?offerID=a`.
    package init(
        method: String, target: String, contentType: String? = nil, contentEncoding: String? = nil,
        authorization: String? = nil, peer: IPAddress? = nil, forwardedFor: String? = nil,
        context: RequestContext = RequestContext(), isLate: Bool = false, body: [UInt8] = []
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
        self.contentType = contentType
        self.contentEncoding = contentEncoding
        self.authorization = authorization
        self.peer = peer
        self.forwardedFor = forwardedFor
        self.context = context
        self.isLate = isLate
        self.body = body
    }
}
