package import AppStoreData
package import OfferCore
package import OfferEligibility
package import OfferHTTP
package import OfferIdentity
import SubscriberStore
import SubscriberSync

// All problems that the API reports. To add a problem, add its code here and its declaration below. Codes are stable,
// because programs rely on them. A test checks that `openapi.json` lists all codes.
extension Problem {
    package enum Code: String, CaseIterable, Sendable {
        case malformedHTTP = "malformed_http"
        case requestTimeout = "request_timeout"
        case notFound = "not_found"
        case methodNotAllowed = "method_not_allowed"
        case bodyTooLarge = "body_too_large"
        case notJSONContent = "not_json_content"
        case encodedContent = "encoded_content"
        case misdirectedRequest = "misdirected_request"
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
        case idempotencyKeyReused = "idempotency_key_reused"
        case unknownField = "unknown_field"
        case credentialsMissing = "credentials_missing"
        case credentialsRefused = "credentials_refused"
        case scopeMissing = "scope_missing"
        case offerNotServed = "offer_not_served"
        case appNotServed = "app_not_served"
        case environmentNeeded = "environment_needed"
        case appStoreNotQueried = "app_store_not_queried"
        case notEligible = "not_eligible"
        case anotherCustomersProof = "another_customers_proof"
        case anotherCustomersTransaction = "another_customers_transaction"
        case proofRefused = "proof_refused"
        case proofsUnavailable = "proofs_unavailable"
        case notificationRefused = "notification_refused"
        case notificationsUnavailable = "notifications_unavailable"
        case sharedSecretRefused = "shared_secret_refused"
        case retentionRequestRefused = "retention_request_refused"
        case noRetentionMessage = "no_retention_message"
        case retentionMessageUnavailable = "retention_message_unavailable"
        case notForUsers = "not_for_users"
        case customerNotYours = "customer_not_yours"
        case grantsNotConfigured = "grants_not_configured"
        case notGrantable = "not_grantable"
        case unknownCustomer = "unknown_customer"
        case unknownGrant = "unknown_grant"
        case unknownOffer = "unknown_offer"
        case grantExists = "grant_exists"
        case grantClosed = "grant_closed"
        case secondPersonNeeded = "second_person_needed"
        case rateLimited = "rate_limited"
        case usersUnavailable = "users_unavailable"
        case signingUnavailable = "signing_unavailable"
        case auditUnavailable = "audit_unavailable"
        case clockWrong = "clock_wrong"
        case issuerIDMissing = "issuer_id_missing"
        case storeUnavailable = "store_unavailable"
        case appStoreUnavailable = "app_store_unavailable"
        case reportFailed = "report_failed"
        case overloaded
        case notReady = "not_ready"
        case stopping
    }

    /// The statuses that a problem can have.
    package static let statuses = [400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429, 503]

    // MARK: The request cannot be read

    package static let malformedHTTP = Problem(
        .malformedHTTP, 400, "The request is not well-formed HTTP, or its head is too large.")
    package static let requestTimeout = Problem(
        .requestTimeout, 408, "The complete request did not arrive in time.")
    package static let notFound = Problem(
        .notFound, 404,
        "Nothing exists at this path. To sign offers, use POST /offer or POST /v1/promotional-offers. To explain a "
            + "refused signature, use POST /v1/explanations.")
    /// - Parameter allowed: the methods that the path accepts.
    package static func methodNotAllowed(_ allowed: [String]) -> Problem {
        Problem(.methodNotAllowed, 405, "This path accepts \(allowed.joined(separator: " and ")).")
            .with { $0.allow = allowed }
    }
    package static let bodyTooLarge = Problem(
        .bodyTooLarge, 413,
        "The body is larger than \(HTTPRequest.maximumBodySize) bytes, or than \(HTTPRequest.maximumProofBodySize) where "
            + "proofs are accepted.")
    package static let notJSONContent = Problem(
        .notJSONContent, 415, "The body must be JSON in UTF-8, sent with Content-Type: application/json.")
    package static let encodedContent = Problem(
        .encodedContent, 415, "The body must not be compressed: send it without Content-Encoding.")
    package static func unreadableJSON(_ error: JSONError) -> Problem {
        Problem(.unreadableJSON, 400, "The body is not valid JSON: \(error).")
    }
    package static let notAnObject = Problem(.notAnObject, 400, "The body must be a JSON object.")
    package static func unreadableQuery(_ fault: QueryReader.Fault) -> Problem {
        Problem(.unreadableQuery, 400, fault.rawValue)
    }
    package static let queryNotExpected = Problem(
        .queryNotExpected, 400, "The fields belong in the body; do not send a query.")
    package static let queryAndBody = Problem(
        .queryAndBody, 400, "Send the fields in the query or in the body, not in both.")

    /// The listener is on this machine and requires no token. The owner of a web page can point a host name at this
    /// machine, so other host names in `Host` are refused.
    package static let misdirectedRequest = Problem(
        .misdirectedRequest, 421,
        "This address requires no token, so it answers only for localhost and IP addresses. Send one of them in Host.")

    // MARK: A field is wrong

    package static func missingField(_ field: String) -> Problem {
        Problem(.missingField, 400, "\(field) is missing.").with { $0.field = field }
    }
    package static let missingCustomer = Problem(
        .missingField, 400,
        "applicationUsername is missing. Send the value that the app sets on the payment, or send the appAccountToken "
            + "that it passes in the purchase option. If it attaches neither, send \"applicationUsername\": \"\"."
    ).with { $0.field = "applicationUsername" }
    package static let emptyAppAccountToken = Problem(
        .invalidField, 400,
        "appAccountToken must be a UUID, not an empty string. If the app attaches no account to purchases, send "
            + "\"applicationUsername\": \"\" instead, without appAccountToken."
    ).with { $0.field = "appAccountToken" }
    package static func wrongType(field: String, expected: String, found: String) -> Problem {
        Problem(.wrongType, 400, "\(field) must be \(expected), not \(found).").with { $0.field = field }
    }
    package static func invalidField(_ error: FieldError) -> Problem {
        Problem(.invalidField, 400, error.description).with { $0.field = error.field }
    }
    package static let invalidIdempotencyKey = Problem(
        .invalidField, 400,
        "Idempotency-Key must be one string of 1 to 128 visible ASCII characters, such as a UUID, with or without "
            + "quotation marks."
    ).with { $0.field = "Idempotency-Key" }
    package static func conflictingFields(_ one: String, _ other: String) -> Problem {
        Problem(.conflictingFields, 400, "Send \(one) or \(other), not both.").with { $0.field = other }
    }
    /// Returns the refusal of a field that only the server sets: the key ID, nonce, timestamp or signature.
    package static func reservedField(_ field: String) -> Problem {
        Problem(.reservedField, 400, "\(field) is set by the server: leave it out.").with {
            $0.field = field
        }
    }
    package static func unknownField(_ field: String) -> Problem {
        Problem(.unknownField, 400, "\(field) is not a field of this request.").with { $0.field = field }
    }

    /// - Parameter names: the members, exactly one of which a request needs.
    static func missingOne(of names: [String]) -> Problem {
        Problem(.missingField, 400, "Send one of \(names.joined(separator: ", ")).").with { $0.field = names.first }
    }
    package static let environmentNeeded = Problem(
        .environmentNeeded, 422, "The app has several environments: name one in environment."
    ).with { $0.field = "environment" }

    package static let appStoreNotQueried = Problem(
        .appStoreNotQueried, 422,
        "An order is looked up at the App Store, but the service does not query it for this app in production."
    ).with { $0.field = "orderID" }

    // MARK: The customer does not get the offer

    /// - Parameter showsDetails: false to show only the codes.
    package static func notEligible(_ reasons: [DecisionReason], showsDetails: Bool) -> Problem {
        Problem(.notEligible, 422, "The customer cannot have this offer now. The reasons say why.").with { problem in
            problem.members = JSONWriter.members { writer in
                if showsDetails { writer.reasons(reasons) } else { writer.reasons(reasons.codes) }
            }
            problem.logReason = reasons.map(\.code.rawValue).joined(separator: ", ")
        }
    }
    package static let anotherCustomersProof = Problem(
        .anotherCustomersProof, 422,
        "The proofs show purchases of another account. Send this customer's proofs, or have your backend link the purchases."
    ).with { $0.field = "proofs" }
    package static let idempotencyKeyReused = Problem(
        .idempotencyKeyReused, 422,
        "This Idempotency-Key belongs to another request of the last ten minutes. Repeat a request unchanged, and give each "
            + "new request a new key."
    ).with { $0.field = "Idempotency-Key" }
    package static let anotherCustomersTransaction = Problem(
        .anotherCustomersTransaction, 422,
        "The transaction belongs to another customer. Send a transaction of this customer, or leave the field out."
    ).with { $0.field = "transactionID" }

    // MARK: A proof is not accepted

    /// - Parameter advice: sentences that name the kind of data and the place where it belongs.
    static func misplacedProof(_ field: String, _ advice: String) -> Problem {
        Problem(.invalidField, 400, advice).with { $0.field = field }
    }
    /// - Parameters:
    ///   - field: the path of the proof, such as `proofs.signedTransactions[3]`.
    ///   - advice: sentences that say where the data belongs; nil if unknown.
    package static func proofRefused(_ field: String, _ refusal: DataRefusal, advice: String? = nil) -> Problem {
        let problem =
            refusal.isRetryable
            ? Problem(.proofsUnavailable, 503, "\(field) could not be verified now. Retry later.")
                .with { $0.retryAfter = 5 }
            : Problem(.proofRefused, 422, refusal.sentence + (advice.map { " " + $0 } ?? ""))
        return problem.with { problem in
            problem.field = field
            problem.members = JSONWriter.members { $0.member("reason", refusal.code) }
            problem.logReason = refusal.code
        }
    }
    static let proofsOfSeveralApps = Problem(
        .invalidField, 400, "With proofs, all offers must be for the same app."
    ).with { $0.field = "offers" }

    // MARK: A notification is not accepted

    package static func notificationRefused(_ refusal: DataRefusal) -> Problem {
        let problem =
            refusal.isRetryable
            ? unavailable(
                .notificationsUnavailable, "The notification could not be verified now. Send it again later.",
                retryAfter: 60)
            : Problem(.notificationRefused, 422, refusal.sentence)
        return problem.with { problem in
            problem.field = refusal.member
            problem.members = JSONWriter.members { $0.member("reason", refusal.code) }
            problem.logReason = [refusal.code, refusal.notificationType].compactMap(\.self).joined(separator: " of ")
        }
    }
    /// Returns one response for an unknown app, an app without a shared secret, and a wrong secret, so that nobody can
    /// probe for them. Only the log names the reason.
    package static func sharedSecretRefused(_ refusal: DataRefusal) -> Problem {
        Problem(
            .sharedSecretRefused, 403,
            "A notification of version 1 is accepted only with the app's shared secret, which the configuration must name. "
                + "Choose version 2 in App Store Connect instead, if you can."
        ).with { $0.logReason = refusal.code }
    }

    // MARK: No retention message is shown

    package static func retentionRequestRefused(_ refusal: DataRefusal) -> Problem {
        guard !refusal.isRetryable || refusal.code == VerificationFailure.Code.signedInFuture.rawValue else {
            return .retentionMessageUnavailable.with { $0.logReason = refusal.code }
        }
        return Problem(.retentionRequestRefused, 422, refusal.sentence).with { problem in
            problem.members = JSONWriter.members { $0.member("reason", refusal.code) }
            problem.logReason = refusal.code
        }
    }
    package static let noRetentionMessage = Problem(
        .noRetentionMessage, 404, "None of the app's retention cases applies. The App Store shows its default.")
    package static let retentionMessageUnavailable = unavailable(
        .retentionMessageUnavailable,
        "No message could be chosen in time, and no case applies without a rule. The App Store shows its default.",
        retryAfter: 1)

    // MARK: The request is not permitted

    // RFC 6750 section 3: a request without credentials receives a challenge without an error code.
    package static let credentialsMissing = Problem(
        .credentialsMissing, 401, "A token is required: send it in Authorization: Bearer."
    ).with { $0.challenge = "Bearer" }
    package static let credentialsRefused = credentialsRefused(nil)
    /// - Parameter fault: the reason, for the log only.
    package static func credentialsRefused(_ fault: UserTokenFault?) -> Problem {
        Problem(.credentialsRefused, 401, "The token in Authorization is invalid or expired.").with {
            $0.challenge = "Bearer error=\"invalid_token\""
            $0.logReason = fault?.rawValue
        }
    }
    package static func scopeMissing(_ scope: Caller.Scope) -> Problem {
        Problem(.scopeMissing, 403, "The token lacks the scope \(scope.rawValue).")
            .with { $0.challenge = "Bearer error=\"insufficient_scope\"" }
    }
    /// The service does not sign this app, product or offer for this caller. Only the log names the reason.
    package static let offerNotServed = Problem(.offerNotServed, 403, "This service does not sign this offer.")
    /// Returns the refusal of an app that the service does not know, or does not serve for this caller.
    /// - Parameter reason: the cause, for the log only.
    package static func appNotServed(because reason: String) -> Problem {
        Problem(.appNotServed, 403, "This service does not serve this app.").with { $0.logReason = reason }
    }
    package static let notForUsers = Problem(
        .notForUsers, 403,
        "A user's token is not accepted here: use a caller's token, such as that of your backend.")
    package static let customerNotYours = Problem(
        .customerNotYours, 403,
        "Users can request signatures only for themselves: leave out applicationUsername and appAccountToken.")

    // MARK: Grants

    package static let grantsNotConfigured = Problem(
        .grantsNotConfigured, 422,
        "Nobody may grant offers of this app: its configuration has no member grants. Add grants: {} for the defaults.")
    static let grantsNotAudited = Problem(
        .grantsNotConfigured, 422,
        "Nobody may grant offers, because there is no audit trail. Set SUBSCRIPTION_OFFERS_AUDIT_LOG.")
    package static let notGrantable = Problem(
        .notGrantable, 422,
        "Only an offer with a rule or limits can be granted, and the app has no such offer of this product."
    ).with { $0.field = "offerID" }
    package static let unknownCustomer = Problem(
        .unknownCustomer, 404,
        "Nothing is known about the customer, so the App Store would refuse any offer. Check the identifier.")
    static let grantLifetime = Problem(
        .invalidField, 400, "expiresAt must be in the future, and at most 366 days from now."
    ).with { $0.field = "expiresAt" }
    package static let unknownGrant = Problem(.unknownGrant, 404, "There is no such grant.").with { $0.field = "id" }
    /// - Parameter id: the other grant.
    package static func grantExists(_ id: UUIDText) -> Problem {
        Problem(
            .grantExists, 409,
            "The customer already has a grant for this offer. Withdraw it first, or wait until it is used or expires."
        ).with { problem in problem.members = JSONWriter.members { $0.member("grant", utf8: id.utf8) } }
    }
    package static let grantClosed = Problem(
        .grantClosed, 409, "The grant no longer waits for this: it was approved, withdrawn or has expired.")
    package static let secondPersonNeeded = Problem(
        .secondPersonNeeded, 403, "The person who made the grant cannot approve it. Another person must do so.")

    // MARK: Reports

    static let unknownOffer = Problem(
        .unknownOffer, 404, "The app has no such offer with a rule, so nothing is recorded about it."
    ).with { $0.field = "offerID" }
    static let unlistedOffer = Problem(
        .unknownOffer, 404, "The app has no offer with this ID and a rule."
    ).with { $0.field = "offerID" }
    static let severalProducts = Problem(
        .missingField, 400, "Several products have the offer: name one in productID."
    ).with { $0.field = "productID" }
    static let needsEvents = Problem(
        .invalidField, 400, "The app has no events, so the time since which customers may have an offer is not known."
    ).with { $0.field = "since" }
    static let reportInFuture = Problem(.invalidField, 400, "asOf must not be in the future.").with {
        $0.field = "asOf"
    }
    /// - Parameter samples: the samples of the offer's rule.
    static func unknownSample(_ samples: [String]) -> Problem {
        samples.isEmpty
            ? Problem(.invalidField, 400, "The offer's rule has no sample.").with { $0.field = "sample" }
            : invalidField(FieldError(field: "sample", reason: .notOneOf(samples)))
    }

    // MARK: Not now

    package static func rateLimited(seconds: Int) -> Problem {
        Problem(.rateLimited, 429, "Rate limit exceeded. Retry in \(seconds) s.").with { $0.retryAfter = seconds }
    }
    /// The public keys of the user's identity provider are not yet, or no longer, available.
    package static let usersUnavailable = unavailable(
        .usersUnavailable, "Users cannot be authenticated: the keys of their identity provider are unavailable.")
    package static let signingUnavailable = unavailable(
        .signingUnavailable, "Offers cannot be signed at the moment. The service's log says why.")
    package static let auditUnavailable = unavailable(
        .auditUnavailable,
        "Offers cannot be signed at the moment: the audit trail cannot be written. Retry in a moment.",
        retryAfter: 1)
    /// A change waits for its line in the audit trail, as a signature does.
    static let changeNotAudited = unavailable(
        .auditUnavailable,
        "Nothing can be changed at the moment: the audit trail cannot be written. Retry in a moment.", retryAfter: 1)
    /// The clock shows a time before this version was built.
    package static let clockWrong = unavailable(
        .clockWrong,
        "Offers cannot be signed at the moment: the service's clock shows a time before the service was built.")
    package static let issuerIDMissing = unavailable(
        .issuerIDMissing, "This request needs an issuer ID, but none is configured for the app.")
    package static let storeUnavailable = unavailable(
        .storeUnavailable, "The database of subscribers is not available. The service's log says why.", retryAfter: 5)
    /// - Parameter reason: for the log only.
    static func appStoreUnavailable(_ reason: SyncError) -> Problem {
        unavailable(
            .appStoreUnavailable, "The order could not be looked up at the App Store. The service's log says why.",
            retryAfter: 5
        )
        .with { $0.logReason = "\(reason)" }
    }
    static let reportFailed = unavailable(
        .reportFailed, "The report could not be made. The service's log says why. It is tried again in a few minutes.",
        retryAfter: 300)
    package static let overloaded = unavailable(
        .overloaded, "The service is overloaded. Retry in a moment.", retryAfter: 2)
    /// The answer to a keyed request whose claim was taken over by another request with the same key.
    static let takenOver = overloaded.with { $0.logReason = "a repeated request took over this one" }
    package static let notReady = unavailable(
        .notReady, "A check has failed, so the service cannot sign everything. The service's log says why.")
    package static let stopping = unavailable(
        .stopping, "The service is stopping. Send requests to another instance.")

    /// Returns a problem with status 503 rather than 422, because the same request can succeed later.
    private static func unavailable(_ code: Code, _ detail: String, retryAfter: Int = 30) -> Problem {
        Problem(code, 503, detail).with { $0.retryAfter = retryAfter }
    }
}

// MARK: Errors of other modules

extension Problem {
    package init(_ error: MemberError) {
        self =
            switch error {
            case .missing(let field): .missingField(field)
            case .missingCustomer: .missingCustomer
            case .emptyAppAccountToken: .emptyAppAccountToken
            case .wrongType(let field, let expected, let found):
                .wrongType(field: field, expected: expected, found: found)
            case .invalid(let error): .invalidField(error)
            case .conflicting(let one, let other): .conflictingFields(one, other)
            case .reserved(let field): .reservedField(field)
            case .unknown(let field): .unknownField(field)
            }
    }

    init(_ error: AuthenticationError) {
        self =
            switch error {
            case .missing: .credentialsMissing
            case .refused(let fault): .credentialsRefused(fault)
            case .usersUnavailable: .usersUnavailable
            case .cryptographyFailed: .signingUnavailable
            }
    }

    init(_ error: StoreError) {
        self = Problem.storeUnavailable.with { $0.logReason = error.detail }
    }

    init(_ fault: RequestFault) {
        self =
            switch fault {
            case .malformed: .malformedHTTP
            case .oversizedCredentials: .credentialsRefused
            case .bodyTooLarge: .bodyTooLarge
            case .timedOut: .requestTimeout
            case .unreadResponses, .tooManyBytes: .overloaded
            }
    }
}
