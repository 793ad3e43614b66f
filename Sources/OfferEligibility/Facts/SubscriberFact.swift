package import OfferCore

/// One statement of the App Store about a purchase, with its storage key.
///
/// Facts merge only by ``replaces(_:)``, so the order of arrival does not matter.
package struct SubscriberFact: Hashable, Sendable {
    package let key: Key
    /// Identifies the subscription, or a purchase of another type.
    package let originalTransactionID: TransactionID
    /// The time at which the App Store signed the fact; for a transaction in a receipt, the creation time of the
    /// receipt.
    package let signedDate: Timestamp
    /// The SHA-256 of the signed text, 32 bytes.
    package let digest: [UInt8]
    package let value: Value

    package struct Key: Hashable, Sendable {
        package let kind: Kind
        /// The `transactionId` for transactions and refund requests; for announcements, the period and the offer;
        /// otherwise the `originalTransactionId`.
        package let id: TransactionID

        package init(kind: Kind, id: TransactionID) {
            self.kind = kind
            self.id = id
        }
    }

    /// The raw values are stored in databases.
    package enum Kind: Int, CaseIterable, Hashable, Sendable {
        case transaction = 1
        /// A transaction from an app receipt. It has less data than a JWS and never replaces one.
        case receiptTransaction = 2
        case renewalInfo = 3
        case status = 4
        /// A `CONSUMPTION_REQUEST`, or the notification that closes it.
        case refundRequest = 5
        /// The subtype of an `EXPIRED`.
        case expiryReason = 6
        /// A transaction from `verifyReceipt`: fetched from Apple over TLS, but not signed. It never replaces a JWS.
        case fetchedTransaction = 7
        /// A renewal info from `verifyReceipt`.
        case fetchedRenewalInfo = 8
        /// The App Store has returned the customer's whole history.
        case wholeHistory = 9
        /// The first renewal info in a period with a certain offer, or with no offer, for the next period.
        case firstAnnouncement = 10
        /// The last renewal info in a period with a certain offer for the next period.
        case lastAnnouncement = 11
        /// A change that a later renewal info replaces. One for each date and type.
        case renewalChange = 12
    }

    /// This enum is indirect because facts are copied often and purchases have many members.
    package indirect enum Value: Hashable, Sendable {
        case transaction(Purchase)
        case receiptTransaction(Purchase)
        case renewalInfo(Renewal)
        case status(SubscriptionStatus)
        case refundRequest(RefundRequest)
        case expiryReason(ExpiryReason)
        case fetchedTransaction(Purchase)
        case fetchedRenewalInfo(Renewal)
        /// The `revision` from which later changes can be read.
        case wholeHistory(String)
        /// The members of the renewal info that concern the next period.
        case firstAnnouncement(Renewal)
        case lastAnnouncement(Renewal)
        case renewalChange(RenewalChange)
    }

    /// - Parameter transactionID: the transaction of the fact; ignored for facts about a whole subscription.
    package init(
        _ value: Value, transactionID: TransactionID, originalTransactionID: TransactionID, signedDate: Timestamp,
        digest: [UInt8]
    ) {
        switch value {
        case .firstAnnouncement(let renewal), .lastAnnouncement(let renewal):
            key = Key(value.kind, renewal, signed: signedDate, originalTransactionID)
        case .renewalChange(let change):
            key = Key(change, signed: signedDate, originalTransactionID)
        default:
            let id = value.kind.isAboutOneTransaction ? transactionID : originalTransactionID
            key = Key(kind: value.kind, id: id)
        }
        self.originalTransactionID = originalTransactionID
        self.signedDate = signedDate
        self.digest = digest
        self.value = value
    }

    /// Returns true if this fact replaces another with the same key. The later `signedDate` wins, except that the
    /// earlier one wins for first announcements. For equal dates, the greater digest wins. For equal digests, the longer
    /// value wins, because an older version may have stored the same JWS with fewer members.
    package func replaces(_ other: SubscriberFact) -> Bool {
        guard signedDate == other.signedDate else {
            return (signedDate > other.signedDate) == (key.kind != .firstAnnouncement)
        }
        guard digest == other.digest else { return other.digest.lexicographicallyPrecedes(digest) }
        guard value != other.value else { return false }
        let (new, old) = (encoded, other.encoded)
        return new.count == old.count ? old.lexicographicallyPrecedes(new) : new.count > old.count
    }
}

extension SubscriberFact.Kind {
    /// True for a transaction from any source.
    package var isTransaction: Bool {
        switch self {
        case .transaction, .receiptTransaction, .fetchedTransaction: true
        case .renewalInfo, .fetchedRenewalInfo, .status, .refundRequest, .expiryReason, .wholeHistory,
            .firstAnnouncement, .lastAnnouncement, .renewalChange:
            false
        }
    }

    /// True for the first or last announcement of an offer.
    package var isAnnouncement: Bool { self == .firstAnnouncement || self == .lastAnnouncement }

    fileprivate var isAboutOneTransaction: Bool {
        switch self {
        case .transaction, .receiptTransaction, .fetchedTransaction, .refundRequest: true
        case .renewalInfo, .fetchedRenewalInfo, .status, .expiryReason, .wholeHistory, .firstAnnouncement,
            .lastAnnouncement, .renewalChange:
            false
        }
    }
}

extension SubscriberFact.Value {
    package var kind: SubscriberFact.Kind {
        switch self {
        case .transaction: .transaction
        case .receiptTransaction: .receiptTransaction
        case .renewalInfo: .renewalInfo
        case .status: .status
        case .refundRequest: .refundRequest
        case .expiryReason: .expiryReason
        case .fetchedTransaction: .fetchedTransaction
        case .fetchedRenewalInfo: .fetchedRenewalInfo
        case .wholeHistory: .wholeHistory
        case .firstAnnouncement: .firstAnnouncement
        case .lastAnnouncement: .lastAnnouncement
        case .renewalChange: .renewalChange
        }
    }
}

extension SubscriberFact {
    /// The fact without its account token, for the erasure of an account.
    package var withoutAccount: SubscriberFact {
        func anonymous(_ purchase: Purchase) -> Purchase {
            var purchase = purchase
            purchase.appAccountToken = nil
            return purchase
        }
        func anonymous(_ renewal: Renewal) -> Renewal {
            var renewal = renewal
            renewal.appAccountToken = nil
            return renewal
        }
        let value: Value =
            switch value {
            case .transaction(let purchase): .transaction(anonymous(purchase))
            case .receiptTransaction(let purchase): .receiptTransaction(anonymous(purchase))
            case .fetchedTransaction(let purchase): .fetchedTransaction(anonymous(purchase))
            case .renewalInfo(let renewal): .renewalInfo(anonymous(renewal))
            case .fetchedRenewalInfo(let renewal): .fetchedRenewalInfo(anonymous(renewal))
            case .status, .refundRequest, .expiryReason, .wholeHistory, .firstAnnouncement, .lastAnnouncement,
                .renewalChange:
                self.value
            }
        return SubscriberFact(
            value, transactionID: key.id, originalTransactionID: originalTransactionID, signedDate: signedDate,
            digest: digest)
    }

    /// The account token of the purchase or of future renewals, if the fact names one.
    package var appAccountToken: UUIDText? {
        switch value {
        case .transaction(let purchase), .receiptTransaction(let purchase), .fetchedTransaction(let purchase):
            purchase.appAccountToken
        case .renewalInfo(let renewal), .fetchedRenewalInfo(let renewal): renewal.appAccountToken
        case .status, .refundRequest, .expiryReason, .wholeHistory, .firstAnnouncement, .lastAnnouncement,
            .renewalChange:
            nil
        }
    }

    /// The Apple Account's identifier within the app, if the fact names it.
    package var appTransactionID: TransactionID? {
        switch value {
        case .transaction(let purchase), .receiptTransaction(let purchase), .fetchedTransaction(let purchase):
            purchase.appTransactionID
        case .renewalInfo(let renewal), .fetchedRenewalInfo(let renewal): renewal.appTransactionID
        case .status, .refundRequest, .expiryReason, .wholeHistory, .firstAnnouncement, .lastAnnouncement,
            .renewalChange:
            nil
        }
    }
}
