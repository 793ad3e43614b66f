import OfferConfiguration
import OfferHTTP

/// Permissions of web pages to read answers from another origin (Fetch Standard, "CORS protocol").
///
/// Only the endpoints that apps call give them, and only to the configured origins. The service has no cookies, so it never allows
/// credentials: pages send a token in `Authorization`.
enum WebAccess {
    /// Returns the origin of a request if its pages may read the answer.
    static func origin(of request: HTTPRequest, under policy: Policy) -> WebOrigin? {
        guard !policy.webOrigins.isEmpty, let origin = request.browser?.origin.flatMap(WebOrigin.init) else {
            return nil
        }
        return policy.webOrigins.contains(origin) ? origin : nil
    }

    /// Returns true if a request only asks whether a browser may send another one. Browsers send `Access-Control-Request-Method`
    /// as well; nothing depends on it, because the answer lists every method of the endpoint.
    static func isPreflight(_ request: HTTPRequest) -> Bool { request.method == "OPTIONS" }

    /// Returns the answer to a preflight request: what a page may send.
    static func preflight(methods: [String]) -> HTTPResponse {
        var response = HTTPResponse.noContent
        response.browserHeaders = [
            .init("Access-Control-Allow-Methods", methods.joined(separator: ", ")),
            .init("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key"),
            .init("Access-Control-Max-Age", "600"),
        ]
        return response
    }

    /// Returns the reason for the log why an origin has no permission. Only a text that could be configured is repeated there.
    static func refusal(of origin: String) -> String {
        let known = WebOrigin(origin).flatMap { $0.text.utf8.count <= 100 ? $0.text : nil }
        return "the origin \(known.map { $0 + " " } ?? "")is not in \(Settings.webOrigins.variable)"
    }

    /// Returns a copy of a response that pages of this origin may read.
    static func allow(_ response: HTTPResponse, to origin: WebOrigin) -> HTTPResponse {
        var response = response
        response.browserHeaders += [
            .init("Access-Control-Allow-Origin", origin.text), .init("Vary", "Origin"),
            .init("Access-Control-Expose-Headers", "Date, Retry-After, X-Request-ID"),
        ]
        return response
    }
}
