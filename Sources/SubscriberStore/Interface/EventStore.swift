import Foundation
package import OfferCore
package import OfferEligibility

/// The reviews of customers that find events, and the outbox of those events.
package protocol EventStore: Sendable {
    /// Finds the events of an app from now on. An app that is already reviewed keeps its start, and all of its customers
    /// are reviewed again if the rules have changed.
    /// - Parameter rules: the digest of the rules.
    func beginReviews(of app: AppScope, by rules: String, at now: Timestamp) async throws(StoreError)

    /// Ends the reviews of an app, in steps, and forgets what they found.
    /// - Returns: false if nothing is left.
    func endReviews(of app: AppScope, limit: Int) async throws(StoreError) -> Bool

    /// Makes the reviews due of customers who are to be reviewed since ``beginReviews(of:by:at:)``.
    /// - Parameter limit: the number of subscriptions to add.
    /// - Returns: false if all are added.
    func enrolCustomers(of app: AppScope, limit: Int) async throws(StoreError) -> Bool

    /// Returns the states that reviews of some subscriptions found.
    func reviewStates(
        of subscriptions: Set<TransactionID>, in app: AppScope
    ) async throws(StoreError) -> ReviewStates

    /// Lists the reviews of customers whose records changed, or whose time has come, the most overdue first.
    func dueReviews(of app: AppScope, by now: Timestamp, limit: Int) async throws(StoreError) -> [DueReview]

    /// Returns the oldest time for which a review was planned that is not made yet; nil if none is late. Reviews of customers
    /// whose records changed have no such time, but come before the others.
    func oldestDueReview(of app: AppScope, by now: Timestamp) async throws(StoreError) -> Timestamp?

    /// Records a review, and puts its events into the outbox of each receiver, atomically.
    /// - Returns: false if nothing was recorded, because the customer's records have changed or another process was first.
    func settle(_ review: SettledReview) async throws(StoreError) -> Bool

    /// Returns the numbers of those redemptions that lack a required signature and are not acknowledged.
    func alarms(among redemptions: [LedgerRedemption], in app: AppScope) async throws(StoreError) -> Set<Int64>

    /// Returns the time since which customers may have an offer, as their reviews found it, by first subscription. Those
    /// who already had it when their reviews began are left out.
    /// - Parameter numbers: a range of subscription numbers.
    func eligibleSince(
        _ productID: ProductID, _ offerID: OfferID, in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> [TransactionID: Timestamp]
}

/// A review to make.
package struct DueReview: Hashable, Sendable {
    package let app: AppScope
    /// The number of the subscription, for ``SubscriberStore/customers(in:numbered:)``.
    package let subscription: Int64
    /// The JSON of the ``ReviewStates`` after the last review; nil before the first.
    package let states: String?
    /// Increases with each change of the customer's records.
    package let version: Int64
    /// The time since which the app's events are sent.
    package let since: Timestamp
    /// True if the subscription became known after that.
    package let isNew: Bool
    /// True if a record of the subscription has changed since the last review.
    package let isChanged: Bool
}

/// The states of the customers with the same first subscription, by account. Two accounts can have the same one, such as
/// a purchase that names neither.
package struct ReviewStates: Hashable, Sendable, Codable {
    package let byAccount: [String: ReviewState]

    package init(_ byAccount: [String: ReviewState]) {
        self.byAccount = byAccount
    }

    /// Returns the state of an account. A new account may be the only one before, which has got its name since. If it is
    /// another customer, what was found about the subscription is not sent again, and the customer may become eligible.
    /// - Parameters:
    ///   - present: the accounts that the subscription has now.
    ///   - elsewhere: the state that reviews of another subscription found for the account, which it represented before.
    package func state(
        of account: String, among present: Set<String>, elsewhere: ReviewState? = nil
    ) -> ReviewState? {
        if let known = byAccount[account] { return known }
        if byAccount.count == 1, let (name, state) = byAccount.first, !present.contains(name) {
            return elsewhere?.merging(state) ?? state
        }
        let sent =
            byAccount.isEmpty
            ? nil : ReviewState(sent: byAccount.values.reduce(into: [:]) { $0.merge($1.sent, uniquingKeysWith: max) })
        guard let elsewhere, let sent else { return elsewhere ?? sent }
        return elsewhere.merging(sent)
    }

    /// Adds what reviews of another subscription found. If both know an account, these states are the newer ones: they say
    /// which offers it may have, and both say what is not sent again.
    package func adding(_ other: ReviewStates) -> ReviewStates {
        ReviewStates(byAccount.merging(other.byAccount) { $0.merging(ReviewState(sent: $1.sent)) })
    }

    package var json: String {
        get throws(StoreError) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            guard let data = try? encoder.encode(self) else { throw StoreError.unreadable("state") }
            return String(decoding: data, as: UTF8.self)
        }
    }

    package init(json: String) throws(StoreError) {
        guard let states = try? JSONDecoder().decode(ReviewStates.self, from: Data(json.utf8)) else {
            throw StoreError.unreadable("state")
        }
        self = states
    }
}

package struct SettledReview: Sendable {
    package struct Event: Sendable {
        package let id: UUIDText
        /// The JSON that the receivers get.
        package let body: [UInt8]

        package init(id: UUIDText, body: [UInt8]) {
            self.id = id
            self.body = body
        }
    }

    package let due: DueReview
    /// The subscription; nil if it has no data.
    package let originalTransactionID: TransactionID?
    /// nil if the subscription represents no customer. What its reviews found then goes to the first representative.
    package let states: ReviewStates?
    /// nil for no further review until a record changes.
    package let next: Timestamp?
    package let events: [Event]
    /// The URLs of the receivers.
    package let receivers: [String]
    /// The subscriptions that represent other customers of this one, to review them too.
    package let representatives: [TransactionID]
    package let at: Timestamp

    package init(
        _ due: DueReview, of original: TransactionID?, states: ReviewStates?, next: Timestamp?, events: [Event] = [],
        receivers: [String] = [], representatives: [TransactionID] = [], at: Timestamp
    ) {
        self.due = due
        originalTransactionID = original
        self.states = states
        self.next = next
        self.events = events
        self.receivers = receivers
        self.representatives = representatives
        self.at = at
    }
}
