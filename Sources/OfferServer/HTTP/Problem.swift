package import OfferCore

/// Everything that can be wrong with a request, or with us while we answer it. HTTP's view of each is in
/// `Problem+Answer.swift`.
package enum Problem: Error, Hashable {
    package enum QueryFault: String, Hashable, Sendable {
        case notPairs = "The query must consist of name=value pairs."
        case tooMany = "The query has too many pairs."
        case duplicateName = "The query has the same name twice."
        case badPercentEncoding = "The query has a % that two hexadecimal digits do not follow."
        case plus = "The query has a bare +, which could mean a plus or a space: send %2B or %20."
        case notUTF8 = "The query does not decode to valid UTF-8."
    }

    // What was sent cannot be read.
    case malformedHTTP
    case requestTimeout
    case notFound
    /// With the methods that the path knows.
    case methodNotAllowed([String])
    case bodyTooLarge
    case notJSONContent
    case encodedContent
    case unreadableJSON(JSONError)
    case notAnObject
    case unreadableQuery(QueryFault)
    case queryNotExpected
    case queryAndBody

    // A field of it is wrong.
    case missingField(String)
    case missingCustomer
    case wrongType(field: String, expected: String, found: String)
    case invalidField(FieldError)
    case conflictingFields(String, String)
    /// A caller never chooses key ID, nonce, timestamp or signature.
    case reservedField(String)
    case unknownField(String)

    // It may not be had.
    case credentialsMissing
    case credentialsRefused
    /// The same to whoever asks; the log hears why.
    case userRefused(UserTokenFault)
    case scopeMissing(Caller.Scope)
    /// The app, the product or the offer is none that is signed for this caller; which of them, only the log says.
    case offerNotServed
    /// A user asks for what users do not decide.
    case notForUsers
    /// A user asks for another customer than the one they are.
    case customerNotYours

    // It may not be had now.
    /// With the time until it may.
    case rateLimited(seconds: Int)

    // We cannot sign.
    /// There are no public keys of the user's identity provider: not yet, or not any more.
    case usersUnavailable
    case signingUnavailable
    /// The audit trail cannot be written.
    case auditUnavailable
    /// The clock shows a time before this version was built.
    case clockWrong
    /// No issuer ID is configured for the app, and what was asked for has to name one.
    case issuerIDMissing
    /// There are more requests than can be answered in time.
    case overloaded
    case notReady
    case stopping
    /// The answer of `/health/ready` to one of these.
    indirect case unready(Problem, HealthReport)
}
