import OfferCore
import OfferEligibility

/// The answer to a request for a retention message.
struct RetentionAnswer: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        /// - `body`: the response body for the App Store.
        case shown(Kind, Shown, body: [UInt8])
        /// No case applies, so the App Store shows its default.
        case nothing
        /// No decision is possible now, and every case depends on customer data. In this case too, the App Store shows
        /// its default.
        case unavailable
    }

    /// The kind of content shown, for metrics and the log.
    enum Kind: String, Hashable, Sendable {
        case message
        case alternateProduct = "alternate_product"
        case promotionalOffer = "promotional_offer"
    }

    /// The identifiers of the content shown.
    struct Shown: Hashable, Sendable {
        let messageIdentifier: UUIDText
        /// nil for a message.
        var productID: ProductID?
        /// nil unless the content is an offer.
        var offerID: OfferID?
    }

    /// The reason for the answer, for metrics and the log.
    enum Reason: String, CaseIterable, Hashable, Sendable {
        /// The rules of the cases determined the answer.
        case rules
        /// The store does not know the customer.
        case unknownCustomer = "unknown_customer"
        /// The deadline passed.
        case deadline
        /// The database does not answer.
        case store
        /// Too many decisions are waiting for the database.
        case overload
        /// Signing failed, or the audit trail cannot be written.
        case signing

        /// True if the answer is a decision about the customer, or the customer is unknown.
        var isDecision: Bool {
            switch self {
            case .rules, .unknownCustomer: true
            case .deadline, .store, .overload, .signing: false
            }
        }
    }

    let content: Content
    /// The name of the rule that applied; nil if there is none.
    let rule: String?
    /// The place of the case in the configuration, from 1; nil if no case applied.
    var caseNumber: Int64?
    let reason: Reason

    /// - Parameter choice: nil if no case applies.
    init(_ choice: RetentionDecision.Choice?, _ reason: Reason) {
        content = choice.map(Content.init) ?? .nothing
        rule = choice?.rule
        caseNumber = choice?.caseNumber
        self.reason = reason
    }

    /// Creates the answer that contains a signed offer.
    init(offer body: [UInt8], _ shown: Shown, rule: String?) {
        content = .shown(.promotionalOffer, shown, body: body)
        self.rule = rule
        reason = .rules
    }

    /// Creates the answer of the case that needs no facts about the customer. If there is no such case, no message is
    /// shown.
    init(without reason: Reason, _ request: VerifiedRetentionRequest) {
        let choice = request.configured.rules.retentionFallback(request.view)
        content =
            choice.map(Content.init)
            ?? (reason == .unknownCustomer ? .nothing : .unavailable)
        rule = nil
        caseNumber = choice?.caseNumber
        self.reason = reason
    }

    var kind: String {
        switch content {
        case .shown(let kind, _, _): kind.rawValue
        case .nothing: "nothing"
        case .unavailable: "unavailable"
        }
    }
}

extension RetentionAnswer.Content {
    fileprivate init(_ choice: RetentionDecision.Choice) {
        var shown = RetentionAnswer.Shown(messageIdentifier: choice.messageIdentifier)
        if case .alternateProduct(let productID, _) = choice.content { shown.productID = productID }
        self = .shown(choice.content.kind, shown, body: choice.body)
    }
}

extension RetentionShown {
    /// - Parameter now: the time of the answer.
    init(_ answer: RetentionAnswer, to request: VerifiedRetentionRequest, at now: Timestamp) {
        var content: RetentionAnswer.Shown?
        if case .shown(_, let shown, _) = answer.content { content = shown }
        self.init(
            requestIdentifier: request.requestIdentifier, subject: .subscription(request.originalTransactionID),
            answer: answer.kind, reason: answer.reason.rawValue, messageIdentifier: content?.messageIdentifier,
            productID: content?.productID, offerID: content?.offerID, rule: answer.rule,
            caseNumber: answer.caseNumber, at: now)
    }
}

extension RetentionDecision.Choice.Content {
    fileprivate var kind: RetentionAnswer.Kind {
        switch self {
        case .message: .message
        case .alternateProduct: .alternateProduct
        case .promotionalOffer: .promotionalOffer
        }
    }
}
