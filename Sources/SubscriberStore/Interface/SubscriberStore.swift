package import OfferCore
package import OfferEligibility

/// The durable store of subscriber data: the App Store's data, the team's data, and pending work.
///
/// A change is durable when its function returns. After a ``StoreError``, nothing of the change is stored, unless the
/// connection to the database broke during the commit. Every change can be repeated without harm.
package protocol SubscriberStore: ConsoleStore, EventStore, GrantStore, LinkStore, ReportStore {
    /// The threads on which a task can read without switching threads; nil if there are none.
    var executor: (any TaskExecutor)? { get }

    // MARK: Intake

    /// Records a notification, merges its facts and puts it into the outbox, atomically.
    func apply(_ delivery: Delivery) async throws(StoreError) -> DeliveryOutcome

    /// Merges facts that arrived without a notification, such as facts from proofs.
    func merge(_ facts: [SubscriberFact], in app: AppScope) async throws(StoreError)

    // MARK: Customers

    /// Loads everything that may belong to a customer, for each environment with data.
    /// - Parameter environment: nil selects all environments.
    func customers(
        _ query: CustomerQuery, bundleID: BundleID, environment: AppStoreEnvironment?
    ) async throws(StoreError) -> [StoredCustomer]

    /// Returns the range of an app's subscription numbers, for ``customers(in:numbered:)``; nil if there are none.
    func subscriptionNumbers(in app: AppScope) async throws(StoreError) -> ClosedRange<Int64>?

    /// Loads everything that may belong to each possible owner of the subscriptions in a range of numbers. A customer
    /// with several subscriptions is loaded once for each.
    func customers(
        in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> [NumberedCustomer]

    /// Returns those identifiers that purchases or links of an app still have. An erasure leaves none of its customer's.
    /// - Parameter numbers: a range of subscription numbers in which most of them are found, so that the others are few.
    func known(
        among names: Set<CustomerIdentifier>, in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> Set<CustomerIdentifier>

    /// Sets team facts of several customers in one change, even for unknown customers.
    /// - Parameter tracked: the names of the facts whose values are also kept with their dates.
    func setTeamFacts(
        _ statements: [TeamFactStatement], in app: AppScope, tracking tracked: Set<FieldText>, at now: Timestamp
    ) async throws(StoreError)

    /// Links an identifier to an account, replacing any previous link.
    /// - Parameter account: the account; nil removes the link.
    func link(
        _ identifier: CustomerIdentifier, to account: Customer?, in app: AppScope, at now: Timestamp
    ) async throws(StoreError)

    /// Erases a customer's identifiers, facts and links, and the raw payloads that name the customer. The counts are
    /// kept. The `notificationUUID` of each notification is also kept, so a repeated delivery restores nothing.
    func erase(_ identifier: CustomerIdentifier, in app: AppScope) async throws(StoreError) -> Erasure

    // MARK: Reports

    /// Reads the facts about each subscription in a range of numbers.
    func subscriptionFacts(
        in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> [[SubscriberFact]]

    /// Reads the subscriptions in a range of numbers about which the App Store requested a retention message.
    func retentionRecords(
        in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> [RetentionRecord]

    /// Reads the exposures to an offer, with what is known about their customers, in steps.
    /// - Parameters:
    ///   - isTracking: true if the tracked facts of the customers are read too.
    ///   - limit: the maximum number of exposures that a step reads.
    func exposures(
        to offer: ReportedOffer, withTracked isTracking: Bool, after place: ExposurePlace, limit: Int
    ) async throws(StoreError) -> ExposurePage

    // MARK: Ledger

    /// Merges facts, checks the limits of offers and reserves signatures, all in one change, so caps hold even for
    /// concurrent requests.
    /// - Returns: one answer for each offer, in the same order.
    func reserve(_ request: LedgerRequest) async throws(StoreError) -> [LedgerResult]

    /// Checks the limits for many customers, without a change.
    /// - Parameter requests: requests that change nothing.
    /// - Returns: what ``reserve(_:)`` answers to each of them.
    func check(_ requests: [LedgerRequest]) async throws(StoreError) -> [[LedgerResult]]

    /// Reserves like ``reserve(_:)``, for a request for a retention message. Each request identifier reserves only once
    /// within ten minutes.
    func reserve(_ reservation: RetentionReservation) async throws(StoreError) -> RetentionReservationAnswer

    /// Returns the reservation for a request for a retention message; nil if there is none, or if it is no longer
    /// remembered.
    func retentionOffer(
        for request: UUIDText, in app: AppScope, at now: Timestamp
    ) async throws(StoreError) -> RememberedRetentionOffer?

    /// Records what the App Store was told to show, permanently. A second record for a request changes nothing.
    func record(_ shown: RetentionShown, in app: AppScope) async throws(StoreError)

    /// Returns what the App Store was told to show about some subscriptions, in no particular order.
    func retentionShown(
        about subscriptions: Set<TransactionID>, in app: AppScope
    ) async throws(StoreError) -> [RetentionShown]

    /// Forgets the requests that were answered before a time. Their reservations are kept.
    func pruneRetentionOffers(before time: Timestamp) async throws(StoreError)

    // MARK: Events

    /// Records events that an app reports. A report about an unknown signature is ignored.
    /// - Parameters:
    ///   - app: the app. The environment applies to reports that name no signature.
    ///   - owner: the only customer whose signatures may be reported on; nil for any.
    /// - Returns: the events that were not ignored, including those that were known.
    func record(
        _ reports: [OfferEventReport], of app: AppScope, onlyOf owner: CustomerIdentifier?
    ) async throws(StoreError) -> [OfferEvent]

    // MARK: Requests with a key

    /// Claims the right to answer a request.
    /// - Parameter end: the time at which another process may take over.
    func claim(
        _ claim: IdempotentRequest.Claim, at now: Timestamp, until end: Timestamp
    ) async throws(StoreError) -> IdempotentRequest.ClaimResult

    /// Keeps the answer to a claimed request. The answer may be sent once this is durable.
    /// - Returns: false if the claim was taken over, so the answer must not be sent.
    func keep(
        _ answer: IdempotentRequest.Answer, of claim: IdempotentRequest.Claim
    ) async throws(StoreError) -> Bool

    /// Withdraws what was reserved for a claimed request that is not answered, and forgets the request.
    func release(_ claim: IdempotentRequest.Claim) async throws(StoreError)

    /// Forgets requests that were claimed before a time. Their reservations are kept.
    /// - Returns: the number of requests forgotten; less than `limit` if none are left.
    func pruneIdempotentRequests(before time: Timestamp, limit: Int) async throws(StoreError) -> Int

    // MARK: Entries

    /// Withdraws reservations whose signatures were not issued.
    func withdraw(_ nonces: [Nonce], in app: AppScope) async throws(StoreError)

    /// Returns the authorisations and redemptions of any of the identifiers.
    func ledgerEntries(
        of holders: [CustomerIdentifier], in app: AppScope
    ) async throws(StoreError) -> LedgerEntries

    /// Requires, from now on, an authorisation for each redemption in some apps, except for exempt offers. An app that
    /// is already covered keeps its start time.
    func beginLedger(_ coverage: LedgerCoverage, at now: Timestamp) async throws(StoreError)

    /// Returns the size of each sample, as the first ``beginLedger(_:at:)`` with the sample stated it.
    func sampleSizes() async throws(StoreError) -> [SampleSize]

    /// Returns the redemptions in some apps that have neither an authorisation nor an acknowledgement, oldest first.
    /// Redemptions before ``beginLedger(_:at:)`` need no authorisation.
    func unexplainedRedemptions(
        in apps: Set<AppScope>, limit: Int
    ) async throws(StoreError) -> [LedgerRedemption]

    /// Acknowledges a redemption that no signature explains.
    /// - Returns: false if the redemption does not exist, or was acknowledged before.
    func acknowledge(_ acknowledgement: Acknowledgement) async throws(StoreError) -> Bool

    /// Returns the acknowledged redemptions in some apps, the last acknowledgement first.
    func acknowledgedRedemptions(
        in apps: Set<AppScope>, limit: Int
    ) async throws(StoreError) -> [AcknowledgedRedemption]

    /// Lists redemptions in the order of recording.
    func redemptions(after number: Int64, limit: Int) async throws(StoreError) -> [LedgerRedemption]

    /// Returns the number of the last recorded redemption; 0 if there is none.
    func lastRedemption() async throws(StoreError) -> Int64

    // MARK: Forwarding

    /// Claims notifications to forward to a receiver. Among the notifications about one subscription, each is due only
    /// when the previous one is delivered or dead.
    /// - Parameter leaseEnd: the time at which they are due again, unless they are settled earlier.
    func claimForwards(
        to receiver: String, dueAt now: Timestamp, leaseEnd: Timestamp, limit: Int
    ) async throws(StoreError) -> [Forward]

    /// Reports the outcome of a forward. A forward that is dead or no longer in the outbox is ignored.
    func settle(_ forward: Forward.ID, _ outcome: ForwardOutcome) async throws(StoreError)

    /// Gives up a receiver's waiting notifications that were received before a time, oldest first.
    /// - Returns: the number of notifications given up; less than `limit` if none are left.
    func giveUpForwards(
        to receiver: String, receivedBefore time: Timestamp, at now: Timestamp, limit: Int
    ) async throws(StoreError) -> Int

    /// Lists the notifications whose forwarding was given up, oldest first.
    func deadLetters(after: Forward.ID?, limit: Int) async throws(StoreError) -> [DeadLetter]

    /// Returns all dead letters to their queues. The first of each queue is due at once.
    /// - Returns: the number of dead letters.
    func reviveDeadLetters(at now: Timestamp) async throws(StoreError) -> Int

    // MARK: Polling

    /// Claims subscriptions of an app that are due for a refresh according to ``NextCheck``, the most overdue first.
    /// - Parameters:
    ///   - time: only subscriptions that are due by this time are claimed.
    ///   - nextDueAt: the time at which they are due again, unless newer data arrives or another time is set.
    func claimDueSubscriptions(
        of app: AppScope, dueBefore time: Timestamp, nextDueAt: Timestamp, limit: Int
    ) async throws(StoreError) -> [DueSubscription]

    /// Sets the next due time of subscriptions for which the App Store gave no answer. A subscription that received
    /// newer data since its claim is not changed.
    func settle(_ claims: [SettledClaim]) async throws(StoreError)

    /// Returns the number of due subscriptions.
    /// - Parameter limit: the number at which counting stops.
    func countDueSubscriptions(
        of app: AppScope, dueBefore time: Timestamp, limit: Int
    ) async throws(StoreError) -> Int

    /// Returns the time up to which the notification history was read; nil if it was never read.
    func recoveryCheckpoint(of app: AppScope) async throws(StoreError) -> Timestamp?

    /// Moves the recovery checkpoint forward. An earlier time is ignored, unless the current checkpoint is in the
    /// future because a clock was ahead.
    /// - Parameters:
    ///   - start: the start of the gapless span that ends at the checkpoint.
    ///   - continuing: true to extend the known span, if there is one, and keep its start.
    func setRecoveryCheckpoint(
        _ time: Timestamp, since start: Timestamp, continuing: Bool, of app: AppScope, at now: Timestamp
    ) async throws(StoreError)

    // MARK: Raw payloads

    /// Lists raw payloads in the order in which they were stored.
    func payloads(after: StoredPayload.ID?, limit: Int) async throws(StoreError) -> [StoredPayload]

    /// Merges facts that were derived again from raw payloads.
    ///
    /// They replace the facts derived earlier from the same signed texts. An earlier fact without a replacement is
    /// withdrawn. If it had replaced a fact of another payload, that fact returns when its payload is reread.
    /// - Returns: the number of facts withdrawn.
    func rederive(_ payloads: [RereadPayload]) async throws(StoreError) -> Int

    /// Deletes raw payloads that are older than a limit and not waiting to be forwarded.
    /// - Returns: the number of payloads deleted; less than `limit` if none are left.
    func prunePayloads(receivedBefore: Timestamp, limit: Int) async throws(StoreError) -> Int

    /// Drops each partition whose raw payloads are all older than a limit and not waiting to be forwarded. Creates a
    /// new partition when the newest one covers a full span.
    ///
    /// A payload may be kept for one span longer. ``prunePayloads(receivedBefore:limit:)`` deletes payloads that are
    /// kept even longer.
    /// - Returns: nil if the engine has no partitions.
    func prunePartitions(
        receivedBefore: Timestamp, span: Duration, at now: Timestamp
    ) async throws(StoreError) -> PartitionPruning?

    // MARK: Shared work

    /// Claims shared work, or renews this process's claim, unless another process holds a claim.
    /// - Parameter duration: the time after which another process may claim the work, unless this process renews its
    ///   claim.
    /// - Returns: true if this process holds the claim.
    func claim(_ work: SharedWork, for duration: Duration) async throws(StoreError) -> Bool

    /// Releases shared work, so that another process can claim it at once.
    func release(_ work: SharedWork) async throws(StoreError)

    // MARK: Operation

    /// Makes a change without effect, to check that the store accepts changes.
    func probe() async throws(StoreError)

    /// The counts of this process, such as committed changes and round trips.
    var counts: StoreCounts { get }

    /// Waits for pending changes and closes the database.
    func close() throws(StoreError)

    /// Returns the intake of each app and environment.
    func intakes() async throws(StoreError) -> [Intake]

    /// Returns the receivers with the counts of their notifications.
    func receivers() async throws(StoreError) -> [Receiver]

    /// Checks that the database is consistent.
    /// - Returns: the faults found.
    func check() async throws(StoreError) -> [String]

    /// Copies the database to a file while the service runs. The file appears only when it is complete and checked.
    /// - Parameters:
    ///   - path: a file that does not exist yet.
    ///   - progress: called with the completed share, from 0 to 1.
    func backUp(to path: String, progress: @escaping @Sendable (Double) -> Void) async throws(StoreError)

    /// Passes every record of a consistent snapshot to `body`. Authorisations come first.
    func forEachRecord(
        _ body: @escaping @Sendable (StoreRecord) throws(StoreError) -> Void
    ) async throws(StoreError)

    /// Adds records from another store. Adding them again changes nothing.
    func add(_ records: [StoreRecord]) async throws(StoreError)
}

extension SubscriberStore {
    /// Loads everything that may belong to the customer with an identifier.
    package func customers(
        known identifier: CustomerIdentifier, bundleID: BundleID, environment: AppStoreEnvironment?
    ) async throws(StoreError) -> [StoredCustomer] {
        try await customers(CustomerQuery(identifier), bundleID: bundleID, environment: environment)
    }

    /// Sets team facts, even for an unknown customer.
    /// - Parameter values: the values by fact name; nil removes the fact.
    package func setTeamFacts(
        _ values: [FieldText: TeamFactValue?], of identifier: CustomerIdentifier, in app: AppScope,
        tracking tracked: Set<FieldText> = [], at now: Timestamp
    ) async throws(StoreError) {
        try await setTeamFacts([TeamFactStatement(identifier, values)], in: app, tracking: tracked, at: now)
    }
}

/// The facts that a team states about one customer.
package struct TeamFactStatement: Hashable, Sendable {
    package let identifier: CustomerIdentifier
    /// The values by fact name; nil removes the fact.
    package let values: [FieldText: TeamFactValue?]

    package init(_ identifier: CustomerIdentifier, _ values: [FieldText: TeamFactValue?]) {
        self.identifier = identifier
        self.values = values
    }
}
