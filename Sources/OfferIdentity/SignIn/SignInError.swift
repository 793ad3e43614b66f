package import OfferCore

/// The reason that a sign-in failed.
package enum SignInError: Error, Hashable, Sendable {
    /// The provider cannot be reached or used. The next attempt may succeed.
    case provider(Diagnostic)
    /// The answer has a parameter twice, or lacks one, or cannot be decoded.
    case malformedAnswer
    /// The answer belongs to a sign-in of another browser, or to an earlier one.
    case otherSignIn
    /// The person took longer than ``PendingSignIn/lifetime``.
    case tookTooLong
    /// The answer comes from another provider (RFC 9207).
    case otherProvider
    /// The provider refused to sign the person in.
    case refused(ProviderRefusal)
    /// The token endpoint refused the code or the client.
    case codeRefused(ProviderRefusal)
    /// The ID token is invalid.
    case invalidToken(UserTokenFault)
    /// The ID token is valid, but not for this sign-in.
    case unsuitableToken(IDTokenFault)
    /// libcrypto failed.
    case cryptographyFailed
}

/// An error of the provider, as far as it may be shown to the operator (RFC 6749 sections 4.1.2.1 and 5.2).
package struct ProviderRefusal: Hashable, Sendable {
    /// A code such as `access_denied`.
    package let code: String
    /// The provider's explanation on one line, at most 200 characters.
    package let description: String?

    init(code: String, description: String?) {
        self.code = code.isPlainName ? code : "an unreadable error"
        self.description = description.map { String($0.prefix(200)).printable }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The reason that a valid ID token cannot sign the person in.
package enum IDTokenFault: String, Error, Hashable, Sendable {
    case nonce = "its nonce belongs to another sign-in"
    case noIssueTime = "it has no iat"
    case otherParty = "its azp is another client, or it has several audiences and no azp"
    case noSubject = "its sub is missing, empty or too long"
    case roleClaim = "its claim for roles is neither a string nor an array of strings"
}

extension SignInError {
    /// The problem and its remedy, for the operator's log.
    package var diagnostic: Diagnostic {
        let (problem, hint): (String, String)
        switch self {
        case .provider(let diagnostic): return diagnostic
        case .malformedAnswer:
            problem = "a browser came back to the console without a complete answer of the identity provider"
            hint = "check the provider's log if it happens often"
        case .otherSignIn:
            problem = "a browser came back to the console with the answer to another sign-in"
            hint = "ignore a single case; many may be an attack on people who use the console"
        case .tookTooLong: (problem, hint) = ("a sign-in to the console took longer than ten minutes", "start again")
        case .otherProvider:
            problem = "the answer to a sign-in does not name the issuer of the console's identity provider"
            hint = "compare the issuer with the provider's; many cases may be a mix-up attack"
        case .refused(let refusal):
            (problem, hint) = ("the identity provider refused a sign-in: \(refusal.text)", refusal.hint)
        case .codeRefused(let refusal):
            (problem, hint) = ("the token endpoint refused the code of a sign-in: \(refusal.text)", refusal.hint)
        case .invalidToken(let fault):
            (problem, hint) = ("the ID token of a sign-in is invalid: \(fault.rawValue)", Self.hint(for: fault))
        case .unsuitableToken(let fault):
            problem = "the ID token of a sign-in is refused: \(fault.rawValue)"
            hint = "check the client ID, the claim for roles, and the provider's settings for ID tokens"
        case .cryptographyFailed: (problem, hint) = ("libcrypto failed during a sign-in", "restart the service")
        }
        return Diagnostic(problem, hint: hint)
    }

    private static func hint(for fault: UserTokenFault) -> String {
        switch fault {
        case .unknownIssuer: "write the issuer exactly as in the provider's tokens"
        case .audience: "check the client ID"
        case .expired, .notYet: "set the clocks of the provider and of this machine"
        case .algorithmNotAllowed: "let the provider sign ID tokens with ES256 or RS256"
        case .unknownKey: "check the keys at the provider's jwks_uri"
        default: "check the provider's settings for ID tokens"
        }
    }

    /// A sentence for the person. It says nothing that an attacker could use.
    package var sentence: String {
        switch self {
        case .provider: "The identity provider cannot be used right now. Try again, or tell the operator."
        case .malformedAnswer, .otherSignIn, .otherProvider:
            "This answer does not belong to your sign-in. Start again from the sign-in page."
        case .tookTooLong: "The sign-in took longer than ten minutes. Start again."
        case .refused: "The identity provider did not sign you in."
        case .codeRefused: "The identity provider did not confirm the sign-in. Start again."
        case .invalidToken, .unsuitableToken:
            "The identity provider sent an identity that cannot be accepted. Tell the operator."
        case .cryptographyFailed: "The sign-in failed. Tell the operator."
        }
    }
}

extension ProviderRefusal {
    fileprivate var text: String { code + (description.map { " (\($0))" } ?? "") }

    fileprivate var hint: String {
        switch code {
        case "access_denied": "allow the person to use the console at the provider, if they should"
        case "invalid_client", "unauthorized_client": "check the client ID and the client secret"
        case "invalid_scope": "check the scopes"
        case "invalid_grant": "check the redirect URL; a code also fails if it is used twice or too late"
        default: "check the client at the provider, and the provider's log"
        }
    }
}
