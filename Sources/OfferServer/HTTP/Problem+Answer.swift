import OfferCore

/// Where a problem becomes HTTP, and nowhere else: a new case does not compile until someone decides what the caller is
/// told.
extension Problem {
    package var status: Int { code.status }

    /// A stable name for programs.
    package var code: Code {
        switch self {
        case .malformedHTTP: .malformedHTTP
        case .requestTimeout: .requestTimeout
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .bodyTooLarge: .bodyTooLarge
        case .notJSONContent: .notJSONContent
        case .encodedContent: .encodedContent
        case .unreadableJSON: .unreadableJSON
        case .notAnObject: .notAnObject
        case .unreadableQuery: .unreadableQuery
        case .queryNotExpected: .queryNotExpected
        case .queryAndBody: .queryAndBody
        case .missingField, .missingCustomer: .missingField
        case .wrongType: .wrongType
        case .invalidField: .invalidField
        case .conflictingFields: .conflictingFields
        case .reservedField: .reservedField
        case .unknownField: .unknownField
        case .credentialsMissing: .credentialsMissing
        case .credentialsRefused, .userRefused: .credentialsRefused
        case .scopeMissing: .scopeMissing
        case .offerNotServed: .offerNotServed
        case .notForUsers: .notForUsers
        case .customerNotYours: .customerNotYours
        case .rateLimited: .rateLimited
        case .usersUnavailable: .usersUnavailable
        case .signingUnavailable: .signingUnavailable
        case .auditUnavailable: .auditUnavailable
        case .clockWrong: .clockWrong
        case .issuerIDMissing: .issuerIDMissing
        case .overloaded: .overloaded
        case .notReady: .notReady
        case .stopping: .stopping
        case .unready(let problem, _): problem.code
        }
    }

    /// A sentence for a person: what is wrong and what to do.
    package var detail: String {
        switch self {
        case .malformedHTTP:
            "The request is not well-formed HTTP, or its head is too large."
        case .requestTimeout:
            "The request did not arrive whole in time."
        case .notFound:
            "There is nothing at this path. Offers are signed at POST /offer and POST /v1/promotional-offers, and refused ones "
                + "explained at POST /v1/explanations."
        case .methodNotAllowed(let allowed):
            "This path takes \(allowed.joined(separator: " and "))."
        case .bodyTooLarge:
            "The body is larger than \(IncomingRequest.maximumBodySize) bytes."
        case .notJSONContent:
            "The body must be JSON in UTF-8, announced by Content-Type: application/json."
        case .encodedContent:
            "The body must not be compressed: send it without Content-Encoding."
        case .unreadableJSON(let error):
            "The body is not the JSON that is read here: \(error)."
        case .notAnObject:
            "The body must be a JSON object."
        case .unreadableQuery(let fault):
            fault.rawValue
        case .queryNotExpected:
            "The fields belong in the body; send no query."
        case .queryAndBody:
            "Send the fields in the query or in the body, not in both."
        case .missingField(let field):
            "\(field) is missing."
        case .missingCustomer:
            "applicationUsername is missing. Send the value that the app sets on the payment, or appAccountToken for the one "
                + "it passes in the purchase option; where it attaches neither, send \"applicationUsername\": \"\" on purpose."
        case .wrongType(let field, let expected, let found):
            "\(field) must be \(expected), not \(found)."
        case .invalidField(let error):
            error.description
        case .conflictingFields(let one, let other):
            "Send \(one) or \(other), not both."
        case .reservedField(let field):
            "\(field) is made by the server and cannot be chosen."
        case .unknownField(let field):
            "\(field) is not a field of this request."
        case .credentialsMissing:
            "This needs a token: send it as Authorization: Bearer."
        case .credentialsRefused, .userRefused:
            "The token in Authorization is not known here, or is no good any more."
        case .scopeMissing(let scope):
            "The token is not good for this: it lacks the scope \(scope.rawValue)."
        case .offerNotServed:
            "This offer is not signed here."
        case .notForUsers:
            "What somebody gets or pays is not for users to decide: ask with the token of a caller, such as the team's backend."
        case .customerNotYours:
            "Users get signatures for themselves alone: leave applicationUsername and appAccountToken out."
        case .rateLimited(let seconds):
            "You have asked more often than you may. Ask again in \(seconds) s."
        case .usersUnavailable:
            "Users cannot be told apart right now: there are no keys of their identity provider."
        case .signingUnavailable:
            "No offer can be signed right now. The log of the service says why."
        case .auditUnavailable:
            "No offer can be signed right now: its line in the audit trail could not be written. Ask again in a moment."
        case .clockWrong:
            "No offer can be signed right now: the clock of the service is behind the day on which it was built."
        case .issuerIDMissing:
            "This needs an issuer ID, and the service has none for the app yet: its operator has to configure it."
        case .overloaded:
            "There are more requests than can be answered right now. Ask again in a moment."
        case .notReady:
            "Something that should be signed is not, as a check that failed says. The log of the service says why."
        case .stopping:
            "The service is about to stop. Send requests to the next one."
        case .unready(let problem, _):
            problem.detail
        }
    }

    /// The field at fault, as the caller spells it.
    package var field: String? {
        switch self {
        case .missingField(let field), .wrongType(let field, _, _), .reservedField(let field), .unknownField(let field):
            field
        case .missingCustomer: "applicationUsername"
        case .invalidField(let error): error.field
        case .conflictingFields(_, let other): other
        case .malformedHTTP, .requestTimeout, .notFound, .methodNotAllowed, .bodyTooLarge, .notJSONContent,
            .encodedContent, .unreadableJSON, .notAnObject, .unreadableQuery, .queryNotExpected, .queryAndBody,
            .credentialsMissing, .credentialsRefused, .userRefused, .scopeMissing, .offerNotServed, .notForUsers,
            .customerNotYours, .rateLimited, .usersUnavailable, .signingUnavailable, .auditUnavailable,
            .clockWrong, .issuerIDMissing, .overloaded, .notReady, .stopping, .unready:
            nil
        }
    }

    /// After how many seconds it is worth asking again; nil where it is not.
    private var retryAfter: Int? {
        switch self {
        case .rateLimited(let seconds): seconds
        case .auditUnavailable: 1
        case .overloaded: 2
        case .usersUnavailable, .signingUnavailable, .clockWrong, .issuerIDMissing, .notReady, .stopping: 30
        case .unready(let problem, _): problem.retryAfter
        default: nil
        }
    }

    /// The problem as RFC 9457 has it, with the members `code`, `field` and `requestID` beside the standard ones, and in
    /// that of `/health/ready` its report.
    package func answer(to context: RequestContext) -> Answer {
        var writer = JSONWriter()
        writer.member("type", "about:blank")
        // With the type about:blank, RFC 9457 wants the phrase of the status and no other title.
        writer.member("title", Answer.reasonPhrase(for: status))
        writer.member("status", Int64(status))
        writeCode(to: &writer)
        writer.member("requestID", context.id.text)
        if case .unready(_, let report) = self { report.write(to: &writer) }
        var answer = Answer(status: status, mediaType: .problem, body: writer.finish())
        answer.context = context
        if case .methodNotAllowed(let allowed) = self { answer.allow = allowed }
        answer.retryAfter = retryAfter
        // RFC 6750 section 3: who sent no credentials is told no error.
        if self == .credentialsMissing { answer.authenticate = "Bearer" }
        if code == .credentialsRefused { answer.authenticate = "Bearer error=\"invalid_token\"" }
        if case .scopeMissing = self { answer.authenticate = "Bearer error=\"insufficient_scope\"" }
        return answer
    }

    /// The problem as it stands in a list of answers, which has one status and one set of headers for all.
    func writeItem(to writer: inout JSONWriter) {
        writeCode(to: &writer)
        if let retryAfter { writer.member("retryAfter", Int64(retryAfter)) }
    }

    private func writeCode(to writer: inout JSONWriter) {
        writer.member("detail", detail)
        writer.member("code", code.rawValue)
        if let field { writer.member("field", field) }
    }
}
