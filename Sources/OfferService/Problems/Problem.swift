import OfferCore
package import OfferHTTP

/// A refusal or failure reported to the caller (RFC 9457): a stable code, a status and a sentence.
///
/// `Problem+All.swift` declares every problem.
package struct Problem: Error, Hashable, Sendable {
    package let code: Code
    package let status: Int
    /// Sentences for people that say what is wrong and what to do.
    package let detail: String
    /// The field at fault, as the caller spells it.
    package var field: String?
    /// Seconds to wait before a retry; nil if a retry cannot succeed.
    package var retryAfter: Int?
    /// The value of the `WWW-Authenticate` header.
    var challenge: String?
    /// The methods of the `Allow` header.
    var allow: [String] = []
    /// Extension members (RFC 9457 section 3.2), encoded as `"name":value` pairs separated by commas.
    var members: [UInt8] = []
    /// The reason, for the log only.
    var logReason: String?

    init(_ code: Code, _ status: Int, _ detail: String) {
        self.code = code
        self.status = status
        self.detail = detail
    }

    /// Returns a copy with some properties changed.
    func with(_ change: (inout Problem) -> Void) -> Problem {
        var copy = self
        change(&copy)
        return copy
    }

    /// Returns the complete response, with the standard members and with `code`, `field` and `requestID`.
    package func response(to context: RequestContext) -> HTTPResponse {
        var writer = JSONWriter()
        writer.member("type", "about:blank")
        // With the type about:blank, RFC 9457 requires the status phrase as the title.
        writer.member("title", HTTPResponse.reasonPhrase(for: status))
        writer.member("status", Int64(status))
        writeCode(to: &writer)
        writer.member("requestID", context.id.text)
        if !members.isEmpty { writer.rawMembers(members) }
        var response = HTTPResponse(status: status, mediaType: .problem, body: writer.finish())
        response.requestID = context.id
        response.allow = allow
        response.retryAfter = retryAfter
        response.authenticate = challenge
        return response
    }

    /// Writes the problem as an item of a list. `retryAfter` is a member here, because all items share one set of
    /// headers.
    func writeItem(to writer: inout JSONWriter) {
        writeCode(to: &writer)
        if !members.isEmpty { writer.rawMembers(members) }
        if let retryAfter { writer.member("retryAfter", Int64(retryAfter)) }
    }

    private func writeCode(to writer: inout JSONWriter) {
        writer.member("detail", detail)
        writer.member("code", code.rawValue)
        if let field { writer.member("field", field) }
    }
}
