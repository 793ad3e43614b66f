import OfferCore
import OfferCrypto

/// The answer that the browser brings back from the provider (RFC 6749 section 4.1.2).
///
/// Anyone can send one, so ``require(_:at:)`` comes before anything else is read.
struct AuthorizationAnswer {
    private let values: [String: String]

    /// The maximum size of the query, in bytes. Codes of some providers have more than 2 kB.
    static let maximumSize = 16 * 1024
    private static let names = ["state", "code", "iss", "error", "error_description"]

    /// Reads the parameters. Other parameters are ignored, as RFC 6749 demands.
    /// - Parameter query: the text after `?`, not decoded.
    init(query: String) throws(SignInError) {
        guard query.utf8.count <= Self.maximumSize, let fields = FormEncoding.fields(of: query) else {
            throw .malformedAnswer
        }
        var values: [String: String] = [:]
        for (name, value) in fields where Self.names.contains(name) {
            // Two readers could choose different ones.
            guard values.updateValue(value, forKey: name) == nil else { throw .malformedAnswer }
        }
        self.values = values
    }

    /// Checks that the answer belongs to this browser's sign-in.
    func require(_ pending: PendingSignIn, at now: Timestamp) throws(SignInError) {
        guard let state = values["state"] else { throw .malformedAnswer }
        let digests: [[UInt8]]
        // Nobody can choose the digest of a guess, so the time of comparing digests says nothing about the state.
        do { digests = [try SHA256.hash(Array(state.utf8)), try SHA256.hash(Array(pending.state.reveal.utf8))] } catch {
            throw .cryptographyFailed
        }
        guard digests[0] == digests[1] else { throw .otherSignIn }
        guard !pending.isExpired(at: now) else { throw .tookTooLong }
    }

    /// Returns the authorization code.
    /// - Parameter isIssuerRequired: true if the provider promises the parameter `iss` (RFC 9207).
    func code(from issuer: ProviderURL, isIssuerRequired: Bool) throws(SignInError) -> Secret {
        if let found = values["iss"] {
            guard found.utf8.elementsEqual(issuer.text.utf8) else { throw .otherProvider }
        } else if isIssuerRequired {
            throw .otherProvider
        }
        if let error = values["error"] {
            throw .refused(ProviderRefusal(code: error, description: values["error_description"]))
        }
        guard let code = values["code"], !code.isEmpty else { throw .malformedAnswer }
        return Secret(code)
    }
}
