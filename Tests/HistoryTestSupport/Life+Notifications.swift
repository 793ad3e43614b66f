import OfferCore
import OfferEligibility

extension Life {
    private typealias Make = TestFacts

    /// Sends a notification with a transaction, the renewal info, the status and what only its type says.
    mutating func notify(
        _ type: String, _ subtype: String? = nil, about place: Int? = nil, seats: Int? = nil,
        request: RefundRequest? = nil, expiry: Subscription.EndReason? = nil
    ) throws {
        let place = place ?? terms.count - 1
        if seats == nil, !terms[place].addedSeats.isEmpty { terms[place].isSignedWithSeats = true }
        let term = terms[place]
        clock = Timestamp(milliseconds: clock.milliseconds + 1000)
        let date = Timestamp(milliseconds: clock.milliseconds - 1000)
        let tellsIntent = expiry == nil || chance(70)
        let info = try Make.fact(
            .renewalInfo(renewal(tellsIntent: tellsIntent)), original, of: original,
            signed: Timestamp(milliseconds: date.milliseconds + 9))
        lastRenewal = info
        let seats = seats.map { term.addedSeats[$0] }
        let transaction = try seats.map { try fact(of: $0, in: term, signed: date) } ?? fact(of: term, signed: date)
        var facts = [transaction, info]
        let others: [SubscriberFact.Value?] = [
            .status(status(at: date)), request.map { .refundRequest($0) },
            expiry.map { .expiryReason(Self.subtype($0)) }, Self.change(type, subtype, info),
        ]
        for value in others.compactMap({ $0 }) {
            facts.append(
                try Make.fact(
                    value, seats?.id ?? term.id, of: original, signed: Timestamp(milliseconds: date.milliseconds + 20)))
        }
        notifications.append(
            HistoryNotification(
                uuid: "\(original)-\(notifications.count)", type: type, subtype: subtype,
                signedDate: Timestamp(milliseconds: date.milliseconds + 20), facts: facts))
    }

    private static func change(_ type: String, _ subtype: String?, _ info: SubscriberFact) -> SubscriberFact.Value? {
        let types = [
            "DID_CHANGE_RENEWAL_STATUS", "DID_CHANGE_RENEWAL_PREF", "DID_FAIL_TO_RENEW", "EXPIRED", "OFFER_REDEEMED",
            "GRACE_PERIOD_EXPIRED", "REFUND", "REFUND_REVERSED", "REVOKE",
        ]
        guard types.contains(type) || subtype == "BILLING_RECOVERY", case .renewalInfo(let renewal) = info.value else {
            return nil
        }
        return .renewalChange(RenewalChange(type: type, subtype: subtype, renewal: renewal))
    }

    /// A transaction as the App Store signs it at a time, as a notification or a device gets it.
    func fact(of term: Term, signed: Timestamp) throws -> SubscriberFact {
        try Make.fact(.transaction(purchase(term)), term.id, of: original, signed: signed)
    }

    private func fact(of seats: AddedSeats, in term: Term, signed: Timestamp) throws -> SubscriberFact {
        var purchase = try purchase(term, from: seats.start)
        (purchase.expiresDate, purchase.offer) = (seats.end, seats.offer)
        (purchase.reason, purchase.additionalReason) = (.purchase, .seatAddition)
        (purchase.webOrderLineItemID, purchase.appAccountToken) = ("w\(seats.id)", seats.token)
        purchase.revocation = seats.refund.map { Revocation(date: $0) }
        purchase.quantity = seats.quantity
        purchase.seats = Seats(
            priceTiers: [PriceTier(price: purchase.price, quantity: seats.quantity)], invitationManagement: .apple,
            revokedQuantity: seats.revoked > 0 ? seats.revoked : nil)
        return try Make.fact(.transaction(purchase), seats.id, of: original, signed: signed)
    }

    func purchase(_ term: Term, from start: Timestamp? = nil) throws -> Purchase {
        var purchase = Purchase(productID: try ProductID(term.product), purchaseDate: start ?? term.start)
        purchase.type = .autoRenewableSubscription
        purchase.subscriptionGroupID = group
        purchase.expiresDate = term.end
        purchase.webOrderLineItemID = "w\(term.id)"
        purchase.ownership = isShared ? share : .purchased
        if purchase.ownership == .assigned {
            // The copy has the seats of the purchaser.
            purchase.quantity = 5
            purchase.seats = Seats(
                priceTiers: [PriceTier(price: term.price, quantity: 5)], invitationManagement: .apple)
        }
        purchase.reason = term.isRenewal ? .renewal : .purchase
        purchase.offer = term.offer
        purchase.price = term.price
        purchase.additionalReason = term.addedSeats.isEmpty ? nil : .seatAddition
        (purchase.storefront, purchase.currency) = (storefront.code, storefront.currency)
        if let bills, let number = bill(of: term) {
            purchase.billingPlan = .monthly
            purchase.commitment = Commitment(
                billingPeriodNumber: Int64(number), totalBillingPeriods: Int64(bills),
                expiresDate: later(term.start, 30 * Double(bills - number + 1)), price: 990 * Int64(bills))
        }
        purchase.appAccountToken = term.token
        purchase.appTransactionID = try appleAccount.map { try TransactionID($0) }
        purchase.revocation = term.refund.map { Revocation(date: $0.date, reason: $0.reason) }
        return purchase
    }

    private func renewal(tellsIntent: Bool) throws -> Renewal {
        var renewal = Renewal(productID: try ProductID(last.product), autoRenewStatus: renewsNextBill ? .on : .off)
        renewal.autoRenewProductID = try ProductID(nextProduct)
        renewal.renewalDate = last.end
        renewal.priceIncreaseStatus = priceIncrease
        renewal.appAccountToken = token
        renewal.appTransactionID = try appleAccount.map { try TransactionID($0) }
        renewal.offer = pending
        renewal.eligibleWinBackOfferIDs = winBackOffers
        if bills != nil { try commit(&renewal) }
        switch outlook {
        case .running: break
        case .failing(let grace):
            renewal.isInBillingRetryPeriod = true
            renewal.gracePeriodExpiresDate = grace
        case .ended(let reason):
            renewal.isInBillingRetryPeriod = false
            renewal.expirationIntent = tellsIntent ? Self.intent(reason) : nil
        }
        return renewal
    }

    private var renewsNextBill: Bool {
        if case .ended = outlook { return autoRenews }
        return autoRenews || isBound && !isRefunded
    }

    /// During a commitment, only its own status is the customer's choice.
    private func commit(_ renewal: inout Renewal) throws {
        if case .ended = outlook { return }
        renewal.billingPlan = .monthly
        renewal.commitment = CommitmentRenewal(
            autoRenewProductID: try ProductID(nextProduct), autoRenewStatus: autoRenews ? .on : .off,
            billingPlanType: .monthly, date: last.end, price: 990)
    }

    private func status(at now: Timestamp) -> SubscriptionStatus {
        if isRefunded { return .revoked }
        switch outlook {
        case .running: return .active
        case .failing(let grace): return grace.map { now < $0 } == true ? .billingGracePeriod : .billingRetry
        case .ended: return .expired
        }
    }

    private static func intent(_ reason: Subscription.EndReason) -> ExpirationIntent {
        switch reason {
        case .cancelled: .cancelled
        case .billing: .billingError
        case .priceIncrease: .priceIncreaseDeclined
        case .productUnavailable: .productUnavailable
        case .refunded, .other: .other
        }
    }

    static func subtype(_ reason: Subscription.EndReason) -> ExpiryReason {
        switch reason {
        case .cancelled: .voluntary
        case .billing: .billingRetry
        case .priceIncrease: .priceIncrease
        case .productUnavailable: .productNotForSale
        case .refunded, .other: ExpiryReason(rawValue: "")
        }
    }
}
