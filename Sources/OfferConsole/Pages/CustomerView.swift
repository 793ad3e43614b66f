package import OfferCore

/// `GET /customer`: all data about a customer of one app and environment.
///
/// This view and the others are immutable classes. As structs, their code for copying added over 30 kB to the binary.
package final class CustomerView: Sendable {
    /// As in a look-up.
    package enum IdentifierKind: Sendable {
        case appAccountToken, applicationUsername, appTransactionID, originalTransactionID, transactionID
    }

    package final class Identifier: Sendable {
        let kind: IdentifierKind
        let value: String

        package init(_ kind: IdentifierKind, _ value: String) {
            self.kind = kind
            self.value = value
        }
    }

    /// The rule, and the way in which an offer reached the customer.
    package final class Source: Sendable {
        /// nil for an inline rule, and for signatures of earlier versions.
        let rule: String?
        /// `decision` or `retention`; nil for signatures of earlier versions.
        let channel: String?

        package init(rule: String?, channel: String?) {
            self.rule = rule
            self.channel = channel
        }
    }

    package final class Authorisation: Sendable {
        /// As in a look-up.
        package enum State: Sendable { case outstanding, redeemed, expired, withdrawn }

        let offerID: String
        let productID: String
        let state: State
        let at: Timestamp
        let expiresAt: Timestamp
        let source: Source

        package init(
            offerID: String, productID: String, state: State, at: Timestamp, expiresAt: Timestamp, source: Source
        ) {
            self.offerID = offerID
            self.productID = productID
            self.state = state
            self.at = at
            self.expiresAt = expiresAt
            self.source = source
        }
    }

    package final class Redemption: Sendable {
        let kind: PeriodKind
        let offerID: String
        let productID: String
        /// nil until the first discounted period begins.
        let transactionID: String?
        let at: Timestamp
        /// True if a signature of this service explains it; nil if it needs none.
        let isAuthorised: Bool?

        package init(
            kind: PeriodKind, offerID: String, productID: String, transactionID: String?, at: Timestamp,
            isAuthorised: Bool?
        ) {
            self.kind = kind
            self.offerID = offerID
            self.productID = productID
            self.transactionID = transactionID
            self.at = at
            self.isAuthorised = isAuthorised
        }
    }

    package final class Exposure: Sendable {
        /// nil for an introductory offer.
        let offerID: String?
        let productID: String
        let isHeldOut: Bool
        let sample: String?
        let at: Timestamp
        let source: Source
        let placement: String?

        package init(
            offerID: String?, productID: String, isHeldOut: Bool, sample: String?, at: Timestamp, source: Source,
            placement: String?
        ) {
            self.offerID = offerID
            self.productID = productID
            self.isHeldOut = isHeldOut
            self.sample = sample
            self.at = at
            self.source = source
            self.placement = placement
        }
    }

    package final class Fact: Sendable {
        let name: String
        /// The value as JSON writes it, but texts without quotation marks.
        let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package final class Link: Sendable {
        let identifier: Identifier
        let account: Identifier

        package init(identifier: Identifier, account: Identifier) {
            self.identifier = identifier
            self.account = account
        }
    }

    let frame: PageFrame
    let now: Timestamp
    /// The page of this customer, without a what-if.
    let address: PageAddress
    let app: String
    let environment: String
    let identifiers: [Identifier]
    /// The three-letter code of the country or region of the latest purchase.
    let storefront: String?
    /// False if there are more subscriptions than the page has.
    let isComplete: Bool
    let subscriptions: [SubscriptionView]
    let verdicts: [OfferVerdict]
    /// nil if the app does not serve the environment.
    let answer: AppAnswer?
    let whatIf: WhatIf
    /// The latest first.
    let grants: [GrantView]
    /// True if the app's offers can be granted.
    let mayGrant: Bool
    let authorisations: [Authorisation]
    let redemptions: [Redemption]
    let exposures: [Exposure]
    let facts: [Fact]
    let links: [Link]
    let timeline: TimelineView

    package init(
        frame: PageFrame, now: Timestamp, address: PageAddress, app: String, environment: String,
        identifiers: [Identifier], storefront: String?, isComplete: Bool = true, subscriptions: [SubscriptionView],
        verdicts: [OfferVerdict], answer: AppAnswer? = nil, whatIf: WhatIf = WhatIf(), grants: [GrantView] = [],
        mayGrant: Bool = false, authorisations: [Authorisation],
        redemptions: [Redemption], exposures: [Exposure], facts: [Fact], links: [Link], timeline: TimelineView
    ) {
        self.frame = frame
        self.now = now
        self.address = address
        self.app = app
        self.environment = environment
        self.identifiers = identifiers
        self.storefront = storefront
        self.isComplete = isComplete
        self.subscriptions = subscriptions
        self.verdicts = verdicts
        self.answer = answer
        self.whatIf = whatIf
        self.grants = grants
        self.mayGrant = mayGrant
        self.authorisations = authorisations
        self.redemptions = redemptions
        self.exposures = exposures
        self.facts = facts
        self.links = links
        self.timeline = timeline
    }
}

extension CustomerView.IdentifierKind {
    var words: StaticString {
        switch self {
        case .appAccountToken: "Account token"
        case .applicationUsername: "Username"
        case .appTransactionID: "Apple Account (app transaction)"
        case .originalTransactionID: "Original transaction"
        case .transactionID: "Transaction"
        }
    }
}
