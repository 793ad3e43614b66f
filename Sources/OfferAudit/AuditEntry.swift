package import OfferCore
import OfferCrypto
package import OfferEligibility

/// One entry of the audit trail: a signature that was made, a change to the data about a customer, an act of a person in
/// the console, or the refusal of one of them.
///
/// An entry is a class because it is passed along several times. Passing a struct would retain each of its dozen
/// references every time.
package final class AuditEntry: Sendable {
    package enum Outcome: Hashable, Sendable {
        case signed(KeyID, Nonce)
        /// A token for the App Store was signed. It has no nonce.
        case signedToken(KeyID)
        /// The change is recorded before it is made. If it then fails, another entry with the same `requestID` records
        /// the failure.
        case accepted
        /// The value is the problem code that the caller received.
        case refused(String)
    }

    /// The client that made the request.
    package struct Client: Sendable {
        /// The name of the principal: a caller's name, or the identity provider of a user.
        package let name: String
        /// The SHA-256 of the caller's token; nil for other principals. The trail stores only its beginning.
        package let tokenDigest: [UInt8]?
        /// The client's address; nil if it is unknown or not recorded.
        package let address: IPAddress?

        package init(name: String, tokenDigest: [UInt8]? = nil, address: IPAddress? = nil) {
            self.name = name
            self.tokenDigest = tokenDigest
            self.address = address
        }
    }

    /// The permission that a signature grants, if its item does not imply it.
    package enum Grant: Hashable, Sendable {
        case introductoryOffer(isAllowed: Bool)
        /// The trail stores only the SHA-256 of the request.
        case advancedCommerce(JSONObjectText)
    }

    /// The subject of the entry.
    package enum Subject: Hashable, Sendable {
        case signature(SignatureKind)
        case customer(CustomerChange)
        case console(ConsoleAct)
    }

    package let time: Timestamp
    package let requestID: String
    package let client: Client
    package let subject: Subject
    /// nil for acts about no app.
    package let item: CatalogueItem?
    package let grant: Grant?
    /// The bytes that identify the customer: the signed username or account token, or a transaction ID; nil if the
    /// signature identifies no customer. The trail stores only the HMAC of these bytes.
    package let customer: [UInt8]?
    /// The decision behind the signature; nil if no rule was applied.
    package let decision: SignedDecision?
    package let outcome: Outcome

    package convenience init(
        time: Timestamp, requestID: String, client: Client, kind: SignatureKind, item: CatalogueItem,
        grant: Grant? = nil, customer: [UInt8]?, decision: SignedDecision? = nil, outcome: Outcome
    ) {
        self.init(
            time: time, requestID: requestID, client: client, subject: .signature(kind), item: item, grant: grant,
            customer: customer, decision: decision, outcome: outcome)
    }

    /// Creates an entry for a change to the data about a customer.
    package convenience init(
        time: Timestamp, requestID: String, client: Client, change: CustomerChange, app: BundleID, customer: [UInt8],
        outcome: Outcome
    ) {
        self.init(
            time: time, requestID: requestID, client: client, change: change, item: CatalogueItem(app: app),
            customer: customer, outcome: outcome)
    }

    /// Creates an entry for a list of customers.
    /// - Parameter item: the app, or the offer of the list.
    package convenience init(
        time: Timestamp, requestID: String, client: Client, listIn environment: AppStoreEnvironment,
        item: CatalogueItem, outcome: Outcome
    ) {
        self.init(
            time: time, requestID: requestID, client: client,
            subject: .customer(CustomerChange(.list, in: environment)), item: item, grant: nil, customer: nil,
            decision: nil, outcome: outcome)
    }

    /// Creates an entry for a change about one offer.
    package convenience init(
        time: Timestamp, requestID: String, client: Client, change: CustomerChange, item: CatalogueItem,
        customer: [UInt8], outcome: Outcome
    ) {
        self.init(
            time: time, requestID: requestID, client: client, subject: .customer(change), item: item, grant: nil,
            customer: customer, decision: nil, outcome: outcome)
    }

    /// Creates an entry for an act of a person in the console.
    /// - Parameters:
    ///   - item: the app, or the offer of a grant; nil for acts about no app.
    ///   - customer: the identifier of the customer, or the text of a search; nil for other acts.
    package convenience init(
        time: Timestamp, requestID: String, act: ConsoleAct, address: IPAddress?, item: CatalogueItem? = nil,
        customer: [UInt8]? = nil, outcome: Outcome = .accepted
    ) {
        self.init(
            time: time, requestID: requestID, client: Client(name: "console", address: address),
            subject: .console(act), item: item, grant: nil, customer: customer,
            decision: nil, outcome: outcome)
    }

    private init(
        time: Timestamp, requestID: String, client: Client, subject: Subject, item: CatalogueItem?, grant: Grant?,
        customer: [UInt8]?, decision: SignedDecision?, outcome: Outcome
    ) {
        self.time = time
        self.requestID = requestID
        self.client = client
        self.subject = subject
        self.item = item
        self.grant = grant
        self.customer = customer
        self.decision = decision
        self.outcome = outcome
    }

    /// Writes the members of the entry's line.
    /// - Parameters:
    ///   - address: the text that represents the client's address; nil to omit it.
    ///   - customerCode: computes a customer's HMAC with the trail's key.
    func write(
        to writer: inout JSONWriter, address: [UInt8]?, customerCode: ([UInt8]) throws -> [UInt8]
    ) throws {
        writer.member("time", utf8: time.iso8601)
        writer.member("requestID", requestID)
        writer.member("caller", client.name)
        // These bytes are enough to tell a caller's tokens apart.
        if let digest = client.tokenDigest { writer.member("token", hexadecimal: Array(digest.prefix(4))) }
        if let address { writer.member("address", utf8: address) }
        writer.member("kind", subject.name)
        if case .console(let act) = subject {
            writer.member("person", act.person)
            if let subject = act.subject { writer.member("subject", subject) }
            if let alarm = act.alarm { writer.member("alarm", alarm) }
            if let about = act.about { writer.member("about", about) }
            if !act.roles.isEmpty { writer.member("roles", act.roles.joined(separator: " ")) }
        }
        if let item { writer.member("bundleID", utf8: item.app.text.utf8) }
        if let product = item?.product { writer.member("productID", utf8: product.text.utf8) }
        if let offer = item?.offer { writer.member("offerID", utf8: offer.text.utf8) }
        if let grant { try write(grant, to: &writer) }
        if let customer {
            // An empty username stands for every customer of an app that attaches no username.
            writer.member("customer", hexadecimal: customer.isEmpty ? [] : try customerCode(customer))
        }
        if case .customer(let change) = subject, let account = change.account {
            writer.member("account", hexadecimal: try customerCode(account))
        }
        if let grant = subject.auditedGrant {
            writer.member("grant", utf8: grant.id.utf8)
            writer.member("reason", grant.reason)
            writer.member("liftsLimits", grant.liftsLimits)
            writer.member("madeBy", grant.maker.name)
            if let subject = grant.maker.subject { writer.member("madeBySubject", subject) }
            writer.member("expiresAt", utf8: grant.expiresAt.iso8601)
        }
        if let environment = subject.environment { writer.member("environment", environment.rawValue) }
        if let decision {
            if let rule = decision.rule { writer.member("rule", rule) }
            writer.member("rulesSHA256", hexadecimal: decision.rulesDigest)
            writer.member("factsSHA256", hexadecimal: decision.factsDigest)
        }
        switch outcome {
        case .signed(let keyID, let nonce):
            writer.member("keyID", utf8: keyID.text.utf8)
            writer.member("nonce", utf8: nonce.uuid.utf8)
            writer.member("outcome", "signed")
        case .signedToken(let keyID):
            writer.member("keyID", utf8: keyID.text.utf8)
            writer.member("outcome", "signed")
        case .accepted:
            writer.member("outcome", "accepted")
        case .refused(let code):
            writer.member("outcome", code)
        }
    }

    private func write(_ grant: Grant, to writer: inout JSONWriter) throws {
        switch grant {
        case .introductoryOffer(let isAllowed): writer.member("allowIntroductoryOffer", isAllowed)
        case .advancedCommerce(let request):
            writer.member("requestSHA256", hexadecimal: try SHA256.hash(request.utf8))
        }
    }
}

extension AuditEntry.Subject {
    /// The value of the member `kind`.
    fileprivate var name: String {
        switch self {
        case .signature(let kind): kind.rawValue
        case .customer(let change): change.kind.rawValue
        case .console(let act): act.kind.rawValue
        }
    }

    fileprivate var auditedGrant: AuditedGrant? {
        switch self {
        case .signature: nil
        case .customer(let change): change.grant
        case .console(let act): act.grant
        }
    }

    fileprivate var environment: AppStoreEnvironment? {
        switch self {
        case .signature: nil
        case .customer(let change): change.environment
        case .console(let act): act.environment
        }
    }
}
