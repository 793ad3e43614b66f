/// The reason the members of a JSON object are invalid. It names members but never contains their values.
package enum MemberError: Error, Hashable {
    case missing(String)
    /// Neither `applicationUsername` nor `appAccountToken` is present.
    case missingCustomer
    /// `appAccountToken` is an empty string. Only an empty `applicationUsername` means a purchase without a username or
    /// token.
    case emptyAppAccountToken
    case wrongType(String, expected: String, found: String)
    case invalid(FieldError)
    /// Both members were sent, but only one is allowed.
    case conflicting(String, String)
    /// A member that only the server may produce: key ID, nonce, timestamp, signature, JWS claims.
    case reserved(String)
    case unknown(String)
}
