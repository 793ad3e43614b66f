import OfferConsole
import OfferCore
import OfferEligibility
import OfferReports
import OfferService
import SubscriberStore

extension CustomerView {
    /// The page about a customer.
    /// - Parameters:
    ///   - shown: what the App Store was told to show.
    ///   - page: the page of the timeline, from 1.
    convenience init(
        _ customer: KnownCustomer, _ shown: [RetentionShown], at address: CustomerAddress, in app: Catalogue.App,
        _ verdicts: [OfferVerdict],
        _ answer: AppAnswer?, _ whatIf: WhatIf, page: Int, _ request: ConsoleRequest
    ) {
        let owned = customer.owned
        let state = owned.state(in: app, at: request.now)
        let periods = Dictionary(grouping: owned.periods(in: app), by: \.originalTransactionID)
        self.init(
            frame: request.frame(at: address.page), now: request.now, address: address.page,
            app: owned.app.bundleID.text.description, environment: owned.app.environment.rawValue,
            identifiers: owned.identifiers(with: address.identifier), storefront: state.storefront,
            isComplete: owned.isComplete,
            subscriptions: state.subscriptions.map { subscription in
                SubscriptionView(
                    subscription, SubscriptionTerms(of: subscription, in: owned.facts),
                    periods[subscription.originalTransactionID] ?? [])
            },
            verdicts: verdicts, answer: answer, whatIf: whatIf, grants: request.grants(of: customer),
            mayGrant: app.rules.grants != nil,
            authorisations: customer.ledger.authorisations.map { Authorisation($0, at: request.now) },
            redemptions: state.redemptions.map { redemption in
                Redemption(redemption, known: customer.ledger.redemptions.first { $0.isRecord(of: redemption) })
            },
            exposures: owned.exposures.sorted { $0.at < $1.at }.map(Exposure.init),
            facts: owned.teamFacts.map { Fact(name: $0.name.description, value: $0.value.words) },
            links: owned.links.map {
                Link(identifier: Identifier($0.identifier), account: Identifier(CustomerIdentifier($0.account)))
            },
            timeline: TimelineView(
                CustomerTimeline.entries(customer, shown, state, periods.values.flatMap(\.self)), page: page,
                at: address))
    }
}

extension OwnedCustomer {
    /// The names of the customer, the requested one first.
    fileprivate func identifiers(with requested: CustomerIdentifier) -> [CustomerView.Identifier] {
        let known: [CustomerIdentifier?] = [
            requested, appAccountToken.map(CustomerIdentifier.appAccountToken),
            applicationUsername.map(CustomerIdentifier.applicationUsername),
            appTransactionID.map(CustomerIdentifier.appTransactionID),
        ]
        var identifiers: [CustomerIdentifier] = []
        for identifier in known.compactMap(\.self) where !identifiers.contains(identifier) {
            identifiers.append(identifier)
        }
        return identifiers.map(CustomerView.Identifier.init)
    }
}

extension CustomerView.Identifier {
    convenience init(_ identifier: CustomerIdentifier) {
        self.init(
            CustomerView.IdentifierKind(identifier.kind), String(decoding: identifier.utf8, as: UTF8.self))
    }
}

extension CustomerView.IdentifierKind {
    fileprivate init(_ kind: CustomerIdentifier.Kind) {
        self =
            switch kind {
            case .appAccountToken: .appAccountToken
            case .applicationUsername: .applicationUsername
            case .appTransactionID: .appTransactionID
            case .originalTransactionID: .originalTransactionID
            case .transactionID: .transactionID
            }
    }
}

extension CustomerView.Authorisation {
    fileprivate convenience init(_ authorisation: OfferEligibility.Authorisation, at now: Timestamp) {
        let state: State =
            switch authorisation.state {
            case .outstanding: authorisation.isOutstanding(at: now) ? .outstanding : .expired
            case .redeemed: .redeemed
            case .withdrawn: .withdrawn
            }
        self.init(
            offerID: authorisation.offerID.text.description, productID: authorisation.productID.text.description,
            state: state, at: authorisation.at, expiresAt: authorisation.expiresAt,
            source: CustomerView.Source(authorisation.source))
    }
}

extension CustomerView.Source {
    fileprivate convenience init(_ source: OfferSource?) {
        self.init(rule: source?.rule, channel: source?.channel.rawValue)
    }
}

extension CustomerView.Redemption {
    /// - Parameter known: the ledger's entry; nil if there is none.
    fileprivate convenience init(_ redemption: OfferEligibility.Redemption, known: LedgerRedemption?) {
        self.init(
            kind: OfferConsole.PeriodKind(redemption.type), offerID: redemption.offerID,
            productID: redemption.productID.text.description,
            transactionID: redemption.transactionID.map(\.text.description), at: redemption.at,
            isAuthorised: redemption.type == .promotional ? known.map { $0.authorisedAt != nil } : nil)
    }
}

extension CustomerView.Exposure {
    fileprivate convenience init(_ exposure: OfferEligibility.Exposure) {
        self.init(
            offerID: exposure.offerID.map(\.text.description), productID: exposure.productID.text.description,
            isHeldOut: exposure.arm == .heldOut, sample: exposure.place?.sample, at: exposure.at,
            source: CustomerView.Source(exposure.source), placement: exposure.placement)
    }
}

extension OfferConsole.PeriodKind {
    fileprivate init(_ type: OfferType) {
        self =
            switch type {
            case .introductory: .introductory
            case .promotional: .promotional
            case .offerCode: .offerCode
            case .winBack: .winBack
            case .retention: .retention
            default: .otherOffer
            }
    }

    init(_ kind: Subscription.PeriodKind) {
        self =
            switch kind {
            case .trial: .trial
            case .introductory: .introductory
            case .promotional: .promotional
            case .offerCode: .offerCode
            case .winBack: .winBack
            case .retention: .retention
            case .otherOffer: .otherOffer
            case .regular: .regular
            }
    }
}

extension SubscriptionView {
    init(_ subscription: Subscription, _ terms: SubscriptionTerms, _ periods: [SubscriptionPeriod]) {
        self.init(
            originalTransactionID: subscription.originalTransactionID.text.description,
            productID: subscription.productID.text.description, status: Status(subscription.status),
            periods: periods.map { period in
                Period(
                    transactionID: period.transactionID.text.description,
                    productID: period.productID.text.description, start: period.start, end: period.end,
                    kind: OfferConsole.PeriodKind(period.kind), offerID: period.offerID,
                    refundedAt: period.refundedAt)
            })
        isSettled = subscription.settled
        autoRenews = subscription.autoRenews
        autoRenewProductID = subscription.autoRenewProductID?.text.description
        expiresAt = subscription.expiresAt
        gracePeriodExpiresAt = subscription.gracePeriodExpiresAt
        endedAt = subscription.endedAt
        endedBecause = subscription.endedBecause.map(EndReason.init)
        renewals = subscription.isRunWhole ? subscription.renewals : nil
        subscribedSince = subscription.subscribedSince
        lastPeriod = OfferConsole.PeriodKind(subscription.lastPeriod)
        offerID = subscription.offerID
        pendingOffer = subscription.pendingOffer.map { offer in
            (OfferConsole.PeriodKind(Subscription.PeriodKind(offer)), offer.identifier)
        }
        priceIncrease = subscription.priceIncrease?.rawValue
        ownership = subscription.ownership.map(Ownership.init)
        isRefundPending = subscription.refundPending
        if let amount = terms.price, let currency = terms.currency {
            price = "\(FixedText.amount(Double(amount))) \(currency)"
        }
        let nextSeats = subscription.endedAt == nil ? terms.nextSeats : nil
        seats = terms.seats.map { ($0, terms.refundedSeats, nextSeats) }
        commitment = subscription.commitment.flatMap { commitment in
            commitment.billingPeriodNumber.flatMap { number in
                commitment.totalBillingPeriods.map { (Int(number), Int($0)) }
            }
        }
    }
}

extension SubscriptionView.Status {
    fileprivate init(_ status: Subscription.Status) {
        self =
            switch status {
            case .active: .active
            case .billingGracePeriod: .billingGracePeriod
            case .billingRetry: .billingRetry
            case .expired: .expired
            case .revoked: .revoked
            }
    }
}

extension SubscriptionView.EndReason {
    fileprivate init(_ reason: Subscription.EndReason) {
        self =
            switch reason {
            case .cancelled: .cancelled
            case .billing: .billing
            case .priceIncrease: .priceIncrease
            case .productUnavailable: .productUnavailable
            case .refunded: .refunded
            case .other: .other
            }
    }
}

extension SubscriptionView.Ownership {
    fileprivate init(_ ownership: Subscription.Ownership) {
        self =
            switch ownership {
            case .purchased: .purchased
            case .familyShared: .familyShared
            case .assigned: .assigned
            case .other: .other
            }
    }
}
