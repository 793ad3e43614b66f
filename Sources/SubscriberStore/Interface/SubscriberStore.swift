package import OfferCore
package import OfferEligibility

/// The durable store of every subscriber: the App Store's data, the team's data, and the work still to be done.
///
/// A change is durable when its function returns. After a ``StoreError`` nothing of it is stored, unless the connection to the
/// database broke during the commit. Every change can be repeated without harm.
package protocol SubscriberStore: Sendable {
    /// The threads on which a task can read without switching threads; nil if there are none.
    var executor: (any TaskExecutor)? { get }

    // MARK: Intake

    /// Records a notification, merges its facts and puts it into the outbox, atomically.
    func apply(_ delivery: Delivery) async throws(StoreError) -> DeliveryOutcome

    /// Merges facts that arrived without a notification, such as those of proofs.
    func merge(_ facts: [SubscriberFact], in app: AppScope) async throws(StoreError)

    // MARK: Customers

    /// Loads everything that may belong to a customer, for each environment with data.
    /// - Parameter environment: nil for all.
    func customers(
        _ query: CustomerQuery, bundleID: BundleID, environment: AppStoreEnvironment?
    ) async throws(StoreError) -> [StoredCustomer]

    /// Returns the numbers of the subscriptions of an app, for ``customers(in:numbered:)``; nil if there are none.
    func subscriptionNumbers(in app: AppScope) async throws(StoreError) -> ClosedRange<Int64>?

    /// Loads everything that may belong to each possible owner of the subscriptions in a range of numbers. A customer with
    /// several subscriptions is loaded for each.
    func customers(
        in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> [NumberedCustomer]

    /// Sets team facts, even for a customer not seen yet.
    /// - Parameter values: nil removes the fact.
    func setTeamFacts(
        _ values: [FieldText: TeamFactValue?], of identifier: CustomerIdentifier, in app: AppScope, at now: Timestamp
    ) async throws(StoreError)

    /// Links an identifier to an account, replacing any previous link.
    /// - Parameter account: nil removes the link.
    func link(
        _ identifier: CustomerIdentifier, to account: Customer?, in app: AppScope, at now: Timestamp
    ) async throws(StoreError)

    /// Erases a customer: identifiers, facts, links and the raw payloads that name them. The counts stay. The
    /// `notificationUUID` of each notification also stays, so a repeated delivery brings nothing back.
    func erase(_ identifier: CustomerIdentifier, in app: AppScope) async throws(StoreError) -> Erasure

    // MARK: Ledger

    /// Merges facts, checks the limits of offers and reserves signatures, all in one change, so a cap holds for concurrent
    /// requests.
    /// - Returns: one answer for each offer, in their order.
    func reserve(_ request: LedgerRequest) async throws(StoreError) -> [LedgerResult]

    /// Reserves like ``reserve(_:)``, for a request for a retention message. Each request identifier reserves once
    /// within ten minutes.
    func reserve(_ reservation: RetentionReservation) async throws(StoreError) -> RetentionReservationAnswer

    /// Returns the reservation for a request for a retention message; nil if there is none, or if it is forgotten.
    func retentionOffer(
        for request: UUIDText, in app: AppScope, at now: Timestamp
    ) async throws(StoreError) -> RememberedRetentionOffer?

    /// Forgets which requests were answered before a time. Their reservations stay.
    func pruneRetentionOffers(before time: Timestamp) async throws(StoreError)

    /// Withdraws reservations whose signatures were not issued.
    func withdraw(_ nonces: [Nonce], in app: AppScope) async throws(StoreError)

    /// Returns the authorisations and redemptions of any of the identifiers.
    func ledgerEntries(
        of holders: [CustomerIdentifier], in app: AppScope
    ) async throws(StoreError) -> LedgerEntries

    /// Requires an authorisation for each redemption in some apps, except for exempt offers. For an app that is already
    /// covered, the start stays the same.
    func beginLedger(_ coverage: LedgerCoverage, at now: Timestamp) async throws(StoreError)

    /// Returns the redemptions in some apps without an authorisation or an acknowledgement, the oldest first.
    /// Redemptions before ``beginLedger(_:at:)`` need no authorisation.
    func unexplainedRedemptions(
        in apps: Set<AppScope>, limit: Int
    ) async throws(StoreError) -> [LedgerRedemption]

    /// - Parameter number: the number of the redemption.
    func acknowledge(_ number: Int64, at now: Timestamp) async throws(StoreError)

    /// Lists redemptions in the order of recording.
    func redemptions(after number: Int64, limit: Int) async throws(StoreError) -> [LedgerRedemption]

    /// Returns the number of the last recorded redemption; 0 if there is none.
    func lastRedemption() async throws(StoreError) -> Int64

    // MARK: Forwarding

    /// Claims notifications to forward to a receiver. Among those about one subscription, the next is due when the
    /// previous one is delivered or dead.
    /// - Parameter leaseEnd: the time at which they are due again unless they are settled before.
    func claimForwards(
        to receiver: String, dueAt now: Timestamp, leaseEnd: Timestamp, limit: Int
    ) async throws(StoreError) -> [Forward]

    /// Reports the outcome of a forward. A forward that is no longer in the outbox is ignored.
    func settle(_ forward: Forward.ID, _ outcome: ForwardOutcome) async throws(StoreError)

    /// Gives up waiting notifications of a receiver that were received before a time, the oldest first.
    /// - Returns: the number given up; less than `limit` if none are left.
    func giveUpForwards(
        to receiver: String, receivedBefore time: Timestamp, at now: Timestamp, limit: Int
    ) async throws(StoreError) -> Int

    /// Lists notifications whose receiver never accepted them, oldest first.
    func deadLetters(after: Forward.ID?, limit: Int) async throws(StoreError) -> [DeadLetter]

    /// Makes all dead letters due again, the first of each queue at once.
    /// - Returns: the number of dead letters.
    func reviveDeadLetters(at now: Timestamp) async throws(StoreError) -> Int

    // MARK: Polling

    /// Claims subscriptions of an app that are due for a refresh according to ``NextCheck``, longest overdue first.
    /// - Parameters:
    ///   - time: only those due before it are claimed.
    ///   - nextDueAt: the time at which they are due again if no newer data arrives and no other time is set.
    func claimDueSubscriptions(
        of app: AppScope, dueBefore time: Timestamp, nextDueAt: Timestamp, limit: Int
    ) async throws(StoreError) -> [DueSubscription]

    /// Sets the next due time of subscriptions for which the App Store gave no answer. A subscription with newer data
    /// since its claim is not changed.
    func settle(_ claims: [SettledClaim]) async throws(StoreError)

    /// Returns the number of due subscriptions.
    /// - Parameter limit: the number at which counting ends.
    func countDueSubscriptions(
        of app: AppScope, dueBefore time: Timestamp, limit: Int
    ) async throws(StoreError) -> Int

    /// Returns the time up to which the notification history has been read; nil if it never was.
    func recoveryCheckpoint(of app: AppScope) async throws(StoreError) -> Timestamp?

    /// Moves the checkpoint forward. A time before the current checkpoint is ignored, unless the current one is in the
    /// future because a clock was ahead.
    /// - Parameters:
    ///   - start: the beginning of the span without a gap that ends at the checkpoint.
    ///   - continuing: true to continue the known span, if there is one, so that its start stays the same.
    func setRecoveryCheckpoint(
        _ time: Timestamp, since start: Timestamp, continuing: Bool, of app: AppScope, at now: Timestamp
    ) async throws(StoreError)

    // MARK: Raw payloads

    /// Lists raw payloads in the order of storing.
    func payloads(after: StoredPayload.ID?, limit: Int) async throws(StoreError) -> [StoredPayload]

    /// Merges facts that were derived again from raw payloads.
    ///
    /// They replace the facts derived earlier from the same signed texts. An earlier fact without a replacement is withdrawn.
    /// If it had displaced a fact of another payload, that fact returns when its payload is read again.
    /// - Returns: the number of facts withdrawn.
    func rederive(_ payloads: [RereadPayload]) async throws(StoreError) -> Int

    /// Deletes raw payloads that are older than a limit and are not waiting to be forwarded.
    /// - Returns: the number deleted; less than `limit` if none are left.
    func prunePayloads(receivedBefore: Timestamp, limit: Int) async throws(StoreError) -> Int

    /// Drops each partition whose raw payloads are all older than a limit and wait for no receiver. Begins a new
    /// partition when the newest one covers a full span.
    ///
    /// A payload may be kept for one span longer. ``prunePayloads(receivedBefore:limit:)`` deletes those kept even longer.
    /// - Returns: nil if the engine has no partitions.
    func prunePartitions(
        receivedBefore: Timestamp, span: Duration, at now: Timestamp
    ) async throws(StoreError) -> PartitionPruning?

    // MARK: Work of one process

    /// Claims a piece of work, or keeps it, unless another process has it.
    /// - Parameter duration: the time after which another process may claim it, unless this process renews its claim.
    /// - Returns: true if this process has it.
    func claim(_ work: SharedWork, for duration: Duration) async throws(StoreError) -> Bool

    /// Releases a piece of work, so another process can claim it at once.
    func release(_ work: SharedWork) async throws(StoreError)

    // MARK: Operation

    /// Makes a change without effect, to check that the store can be written.
    func probe() async throws(StoreError)

    /// The numbers of committed changes and of waits for the database in this process.
    var counts: StoreCounts { get }

    /// Waits for changes under way and closes the database.
    func close() throws(StoreError)

    /// Returns the intake of each app and environment.
    func intakes() async throws(StoreError) -> [Intake]

    /// Returns the receivers with the notifications that wait for them.
    func receivers() async throws(StoreError) -> [Receiver]

    /// Reads the whole database and verifies that it is consistent.
    /// - Returns: the faults found.
    func check() async throws(StoreError) -> [String]

    /// Copies the database to a file while the service runs. The file appears complete and checked.
    /// - Parameters:
    ///   - path: a file that does not exist yet.
    ///   - progress: called with the completed share, from 0 to 1.
    func backUp(to path: String, progress: @escaping @Sendable (Double) -> Void) async throws(StoreError)

    /// Passes every record of a consistent snapshot to `body`. Apps come first.
    func forEachRecord(
        _ body: @escaping @Sendable (StoreRecord) throws(StoreError) -> Void
    ) async throws(StoreError)

    /// Adds records of another store. Adding them again changes nothing.
    func add(_ records: [StoreRecord]) async throws(StoreError)
}

extension SubscriberStore {
    /// Loads everything that may belong to the customer with a name.
    package func customers(
        known identifier: CustomerIdentifier, bundleID: BundleID, environment: AppStoreEnvironment?
    ) async throws(StoreError) -> [StoredCustomer] {
        try await customers(CustomerQuery(identifier), bundleID: bundleID, environment: environment)
    }
}
