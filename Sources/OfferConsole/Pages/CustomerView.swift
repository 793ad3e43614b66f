package import OfferCore

/// `GET /customer`: all data about a customer of one app and environment.
package final class CustomerView: Sendable {
    /// As in a look-up.
    package enum IdentifierKind: Sendable {
        case appAccountToken, applicationUsername, appTransactionID, originalTransactionID, transactionID
    }

    package final class Identifier: Sendable {
        package let kind: IdentifierKind
        package let value: String

        package init(_ kind: IdentifierKind, _ value: String) {
            self.kind = kind
            self.value = value
        }
    }

    /// The rule, and the way in which an offer reached the customer.
    package final class Source: Sendable {
        /// nil for an inline rule, and for signatures of earlier versions.
        package let rule: String?
        /// `decision` or `retention`; nil for signatures of earlier versions.
        package let channel: String?

        package init(rule: String?, channel: String?) {
            self.rule = rule
            self.channel = channel
        }
    }

    package final class Authorisation: Sendable {
        /// As in a look-up.
        package enum State: Sendable { case outstanding, redeemed, expired, withdrawn }

        package let offerID: String
        package let productID: String
        package let state: State
        package let at: Timestamp
        package let expiresAt: Timestamp
        package let source: Source

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
        package let kind: PeriodKind
        package let offerID: String
        package let productID: String
        /// nil until the first discounted period begins.
        package let transactionID: String?
        package let at: Timestamp
        /// True if a signature of this service explains it; nil if it needs none.
        package let isAuthorised: Bool?

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
        package let offerID: String?
        package let productID: String
        package let isHeldOut: Bool
        package let sample: String?
        package let at: Timestamp
        package let source: Source
        package let placement: String?

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
        package let name: String
        /// The value as JSON writes it, but texts without quotation marks.
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package final class Link: Sendable {
        package let identifier: Identifier
        package let account: Identifier

        package init(identifier: Identifier, account: Identifier) {
            self.identifier = identifier
            self.account = account
        }
    }

    package let frame: PageFrame
    package let now: Timestamp
    /// The page of this customer, without a what-if.
    package let address: PageAddress
    package let app: String
    package let environment: String
    package let identifiers: [Identifier]
    /// The three-letter code of the country or region of the latest purchase.
    package let storefront: String?
    /// False if there are more subscriptions than the page has.
    package let isComplete: Bool
    package let subscriptions: [SubscriptionView]
    package let verdicts: [OfferVerdict]
    package let whatIf: WhatIf
    package let authorisations: [Authorisation]
    package let redemptions: [Redemption]
    package let exposures: [Exposure]
    package let facts: [Fact]
    package let links: [Link]
    package let timeline: TimelineView

    package init(
        frame: PageFrame, now: Timestamp, address: PageAddress, app: String, environment: String,
        identifiers: [Identifier], storefront: String?, isComplete: Bool = true, subscriptions: [SubscriptionView],
        verdicts: [OfferVerdict], whatIf: WhatIf = WhatIf(), authorisations: [Authorisation],
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
        self.whatIf = whatIf
        self.authorisations = authorisations
        self.redemptions = redemptions
        self.exposures = exposures
        self.facts = facts
        self.links = links
        self.timeline = timeline
    }
}

extension CustomerView.IdentifierKind {
    var words: HTML {
        switch self {
        case .appAccountToken: "Account token"
        case .applicationUsername: "Username"
        case .appTransactionID: "Apple Account (app transaction)"
        case .originalTransactionID: "Original transaction"
        case .transactionID: "Transaction"
        }
    }
}
