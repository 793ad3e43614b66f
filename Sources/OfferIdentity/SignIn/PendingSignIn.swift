package import OfferCore
import OfferCrypto

/// A sign-in that has begun. The browser keeps it in a cookie until it comes back from the provider.
///
/// The cookie must have the prefix `__Host-`, so that no other site can set it, and must be deleted when the browser
/// comes back. The provider learns the state and the nonce at once, but only the digest of the verifier.
package struct PendingSignIn: Hashable, Sendable {
    /// The time in which the person must come back from the provider.
    package static let lifetime = Duration.seconds(600)

    /// Ties the answer to this browser (RFC 6749 section 10.12).
    let state: Secret
    /// Ties the ID token to this sign-in (OpenID Connect Core 1.0 section 15.5.2).
    let nonce: Secret
    /// Proves to the token endpoint that the code belongs to this sign-in (RFC 7636).
    let verifier: Secret
    package let began: Timestamp
    /// The page to show after the sign-in.
    package let page: ReturnPage

    static func make(page: ReturnPage, at now: Timestamp) throws(OpenSSLError) -> PendingSignIn {
        PendingSignIn(
            state: try randomText(), nonce: try randomText(), verifier: try randomText(), began: now, page: page)
    }

    private init(state: Secret, nonce: Secret, verifier: Secret, began: Timestamp, page: ReturnPage) {
        (self.state, self.nonce, self.verifier) = (state, nonce, verifier)
        (self.began, self.page) = (began, page)
    }

    /// 32 random bytes in base64url, which are 43 characters.
    private static func randomText() throws(OpenSSLError) -> Secret {
        Secret(String(decoding: Base64URL.text(of: try RandomSecret.make()), as: UTF8.self))
    }

    func isExpired(at now: Timestamp) -> Bool { now < began || now - began >= Self.lifetime }

    // MARK: The cookie

    /// The maximum size of ``cookieValue``, in bytes.
    package static let maximumCookieSize = 512
    private static let version = "1"

    /// The value for the cookie: base64url, digits and dots.
    package var cookieValue: Secret {
        let page = String(decoding: Base64URL.text(of: Array(page.path.utf8)), as: UTF8.self)
        let parts = [
            Self.version, state.reveal, nonce.reveal, verifier.reveal, String(began.milliseconds), page,
        ]
        return Secret(parts.joined(separator: "."))
    }

    /// - Returns: nil unless the value is one that ``cookieValue`` could have.
    package init?(cookieValue: String) {
        guard cookieValue.utf8.count <= Self.maximumCookieSize else { return nil }
        let parts = cookieValue.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == Self.version,
            parts[1...3].allSatisfy({ Base64URL.bytes(of: $0.utf8)?.count == 32 }),
            let milliseconds = Int64(parts[4]), String(milliseconds) == parts[4],
            let page = Base64URL.bytes(of: parts[5].utf8).flatMap({ ReturnPage(String(decoding: $0, as: UTF8.self)) })
        else { return nil }
        let secrets = parts[1...3].map { Secret(String($0)) }
        self.init(
            state: secrets[0], nonce: secrets[1], verifier: secrets[2],
            began: Timestamp(milliseconds: milliseconds), page: page)
    }
}

/// A page of the console to return to: a path on its own origin, with an optional query.
package struct ReturnPage: Hashable, Sendable {
    package let path: String

    package static let maximumSize = 200
    /// The first page of the console.
    package static let start = ReturnPage(unchecked: "/")

    /// - Returns: nil if a browser could read the text as an address on another site, or if it is too long or not
    ///   printable ASCII.
    package init?(_ text: String) {
        let utf8 = Array(text.utf8)
        // A browser reads a backslash as a slash, and two slashes as the beginning of a host.
        guard utf8.count <= Self.maximumSize, utf8.first == UInt8(ascii: "/"), !utf8.starts(with: "//".utf8),
            utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return nil }
        path = text
    }

    private init(unchecked path: String) {
        self.path = path
    }
}
