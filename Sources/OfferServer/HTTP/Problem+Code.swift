extension Problem {
    /// The stable names of problems, for programs. The API's contract (`openapi.json`) lists them all, and a test holds it to
    /// that.
    package enum Code: String, CaseIterable, Sendable {
        case malformedHTTP = "malformed_http"
        case requestTimeout = "request_timeout"
        case notFound = "not_found"
        case methodNotAllowed = "method_not_allowed"
        case bodyTooLarge = "body_too_large"
        case notJSONContent = "not_json_content"
        case encodedContent = "encoded_content"
        case unreadableJSON = "unreadable_json"
        case notAnObject = "not_an_object"
        case unreadableQuery = "unreadable_query"
        case queryNotExpected = "query_not_expected"
        case queryAndBody = "query_and_body"
        case missingField = "missing_field"
        case wrongType = "wrong_type"
        case invalidField = "invalid_field"
        case conflictingFields = "conflicting_fields"
        case reservedField = "reserved_field"
        case unknownField = "unknown_field"
        case credentialsMissing = "credentials_missing"
        case credentialsRefused = "credentials_refused"
        case scopeMissing = "scope_missing"
        case offerNotServed = "offer_not_served"
        case notForUsers = "not_for_users"
        case customerNotYours = "customer_not_yours"
        case rateLimited = "rate_limited"
        case usersUnavailable = "users_unavailable"
        case signingUnavailable = "signing_unavailable"
        case auditUnavailable = "audit_unavailable"
        case clockWrong = "clock_wrong"
        case issuerIDMissing = "issuer_id_missing"
        case overloaded
        case notReady = "not_ready"
        case stopping = "stopping"

        /// The HTTP status that goes with it.
        package var status: Int {
            switch self {
            case .malformedHTTP, .unreadableJSON, .notAnObject, .unreadableQuery, .queryNotExpected, .queryAndBody,
                .missingField, .wrongType, .invalidField, .conflictingFields, .reservedField,
                .unknownField:
                400
            case .credentialsMissing, .credentialsRefused: 401
            case .scopeMissing, .offerNotServed, .notForUsers, .customerNotYours: 403
            case .notFound: 404
            case .methodNotAllowed: 405
            case .requestTimeout: 408
            case .bodyTooLarge: 413
            case .notJSONContent, .encodedContent: 415
            case .rateLimited: 429
            // It is the operator's to mend, and the same request is good once they have: 503, not 422.
            case .usersUnavailable, .signingUnavailable, .auditUnavailable, .clockWrong, .issuerIDMissing, .overloaded,
                .notReady, .stopping:
                503
            }
        }
    }
}
