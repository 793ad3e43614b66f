import OfferConsole
import OfferCore
import OfferCrypto
import OfferHTTP

/// A file of the console that is the same for everybody, and that browsers may keep.
struct ConsoleFile: Sendable {
    private let mediaType: HTTPResponse.MediaType
    private let body: HTTPResponse.SharedBody
    /// A strong entity tag (RFC 9110 section 8.8.3): the beginning of the SHA-256 hash.
    private let tag: String

    /// By path.
    static let all = [
        "/console.css": ConsoleFile(.css, StyleSheet.utf8), "/favicon.svg": ConsoleFile(.svg, Favicon.utf8),
    ]

    private init(_ mediaType: HTTPResponse.MediaType, _ utf8: [UInt8]) {
        self.mediaType = mediaType
        body = HTTPResponse.SharedBody(utf8)
        tag = "\"\(Hexadecimal.text(of: (try? SHA256.hash(utf8)) ?? []).prefix(32))\""
    }

    func response(to request: HTTPRequest) -> HTTPResponse {
        let isKnown = request.browser?.ifNoneMatch?.split(separator: ",").contains { candidate in
            candidate.drop { $0 == " " }.trimmingPrefix("W/").prefix { $0 != " " } == tag
        }
        var response = isKnown == true ? HTTPResponse.notModified : HTTPResponse(mediaType: mediaType, sharing: body)
        response.lifetime = 600
        response.browserHeaders = [
            HTTPResponse.Header("ETag", tag), HTTPResponse.Header("X-Content-Type-Options", "nosniff"),
        ]
        return response
    }
}
