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

    /// Returns the oldest planned time of a due review; nil if there is none. Reviews of customers whose records changed have
    /// no planned time. They come before the others.
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

    /// Returns the state of an account. If it is new here, nothing that was found about the subscription is sent again. What
    /// the customer was told under another name, or without one, is known too. Another customer may become eligible.
    /// - Parameters:
    ///   - names: the customer's accounts.
    ///   - present: the accounts that the subscription has now.
    ///   - elsewhere: the state that reviews of another subscription found for the account, which it represented before.
    package func state(
        of account: String, named names: Set<String>, among present: Set<String>, elsewhere: ReviewState? = nil
    ) -> ReviewState? {
        if let known = byAccount[account] { return known }
        guard !byAccount.isEmpty else { return elsewhere }
        let sent = ReviewState(sent: byAccount.values.reduce(into: [:]) { $0.merge($1.sent, uniquingKeysWith: max) })
        let before = byAccount.filter { name, _ in (name.isEmpty || names.contains(name)) && !present.contains(name) }
            .sorted { $0.key < $1.key }.reduce(sent) { $0.merging($1.value) }
        return elsewhere?.merging(before) ?? before
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
    /// An account that another subscription represents now.
    package struct Departure: Sendable {
        /// The account's key in ``ReviewStates``.
        let account: String
        /// nil for a customer without an account.
        let identifier: CustomerIdentifier?
        let state: ReviewState
        let representative: TransactionID

        package init(
            _ account: String, _ identifier: CustomerIdentifier?, _ state: ReviewState, to representative: TransactionID
        ) {
            self.account = account
            self.identifier = identifier
            self.state = state
            self.representative = representative
        }
    }

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
    /// nil if the subscription represents no customer.
    package let states: ReviewStates?
    /// nil for no further review until a record changes.
    package let next: Timestamp?
    package let events: [Event]
    /// The URLs of the receivers.
    package let receivers: [String]
    /// The subscriptions that represent other customers of this one, to review them too.
    package let representatives: [TransactionID]
    /// The accounts that it represented before. What was found about them, and their waiting events, go with them.
    package let departures: [Departure]
    package let at: Timestamp

    package init(
        _ due: DueReview, of original: TransactionID?, states: ReviewStates?, next: Timestamp?, events: [Event] = [],
        receivers: [String] = [], representatives: [TransactionID] = [], departures: [Departure] = [], at: Timestamp
    ) {
        self.due = due
        originalTransactionID = original
        self.states = states
        self.next = next
        self.events = events
        self.receivers = receivers
        self.representatives = representatives
        self.departures = departures
        self.at = at
    }
}
