package import OfferCore
package import OfferEligibility

/// The durable memory of every subscriber: what the App Store said, what the team said, and what is still to be done.
///
/// A change is durable when its function returns. After a ``StoreError`` nothing of it is stored, unless the connection to
/// the database broke while it committed; every change can be repeated without harm.
package protocol SubscriberStore: Sendable {
    /// The threads on which a task reads without a change of threads; nil if there are none.
    var executor: (any TaskExecutor)? { get }

    // MARK: Intake

    /// Records a notification, merges its facts and puts it into the outbox, all or nothing.
    func apply(_ delivery: Delivery) async throws(StoreError) -> DeliveryOutcome

    /// Merges facts that arrived without a notification, such as those of proofs.
    func merge(_ facts: [SubscriberFact], in app: AppScope) async throws(StoreError)

    // MARK: Customers

    /// Loads everything that may belong to a customer, for each environment in which something is known.
    /// - Parameter environment: nil for all.
    func customers(
        _ query: CustomerQuery, bundleID: BundleID, environment: AppStoreEnvironment?
    ) async throws(StoreError) -> [StoredCustomer]

    /// The numbers of the subscriptions of an app, for ``customers(in:numbered:)``; nil if there are none.
    func subscriptionNumbers(in app: AppScope) async throws(StoreError) -> ClosedRange<Int64>?

    /// Loads, for each subscription in a range of numbers, everything that may belong to each customer who may own it. A customer with
    /// several subscriptions is loaded for each.
    func customers(
        in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> [NumberedCustomer]

    /// Sets facts of the team, also for a customer not seen yet.
    /// - Parameter values: nil removes the fact.
    func setTeamFacts(
        _ values: [FieldText: TeamFactValue?], of identifier: CustomerIdentifier, in app: AppScope, at now: Timestamp
    ) async throws(StoreError)

    /// Links an identifier to an account, in place of the account it was linked to.
    /// - Parameter account: nil removes the link.
    func link(
        _ identifier: CustomerIdentifier, to account: Customer?, in app: AppScope, at now: Timestamp
    ) async throws(StoreError)

    /// Erases a customer: identifiers, facts, links and the raw payloads that name them. Counts stay, and so does the
    /// `notificationUUID` of each notification, so a repeated delivery brings nothing back.
    func erase(_ identifier: CustomerIdentifier, in app: AppScope) async throws(StoreError) -> Erasure

    // MARK: Ledger

    /// Merges facts, checks the limits of offers and reserves signatures, all in one change, so that a cap holds whoever asks at
    /// the same moment.
    /// - Returns: one answer for each offer, in their order.
    func askLedger(_ request: LedgerRequest) async throws(StoreError) -> [LedgerAnswer]

    /// Like ``askLedger(_:)`` for a request for a retention message, whose identifier reserves once within ten minutes.
    func reserve(_ reservation: RetentionReservation) async throws(StoreError) -> RetentionReservationAnswer

    /// What is reserved for a request for a retention message; nil if nothing is, or no longer.
    func retentionOffer(
        for request: UUIDText, in app: AppScope, at now: Timestamp
    ) async throws(StoreError) -> RememberedRetentionOffer?

    /// Forgets which requests were answered before a time. What is reserved stays.
    func pruneRetentionOffers(before time: Timestamp) async throws(StoreError)

    /// Takes reservations back whose signatures were not handed out.
    func withdraw(_ nonces: [Nonce], in app: AppScope) async throws(StoreError)

    /// What any of some identifiers holds and has redeemed.
    func ledgerEntries(
        of holders: [CustomerIdentifier], in app: AppScope
    ) async throws(StoreError) -> LedgerEntries

    /// Expects an authorisation for each redemption in some apps, but for those of exempt offers. For an app that is covered
    /// already, the beginning stays as it is.
    func beginLedger(_ coverage: LedgerCoverage, at now: Timestamp) async throws(StoreError)

    /// Redemptions in some apps that no authorisation explains and nobody has acknowledged, the oldest first. Those before
    /// ``beginLedger(_:at:)`` need none.
    func unexplainedRedemptions(
        in apps: Set<AppScope>, limit: Int
    ) async throws(StoreError) -> [LedgerRedemption]

    /// - Parameter number: of the redemption.
    func acknowledge(_ number: Int64, at now: Timestamp) async throws(StoreError)

    /// Lists redemptions in the order in which they were recorded.
    func redemptions(after number: Int64, limit: Int) async throws(StoreError) -> [LedgerRedemption]

    /// The number of the redemption that was recorded last; 0 if there is none.
    func lastRedemption() async throws(StoreError) -> Int64

    // MARK: Forwarding

    /// Takes notifications to forward to a receiver. Of those about one subscription, the next is due when the one before
    /// is delivered or dead.
    /// - Parameter leaseEnd: when they are due again unless they are settled before.
    func claimForwards(
        to receiver: String, dueAt now: Timestamp, leaseEnd: Timestamp, limit: Int
    ) async throws(StoreError) -> [Forward]

    /// Reports what became of a forward. One that is no longer in the outbox is ignored.
    func settle(_ forward: Forward.ID, _ outcome: ForwardOutcome) async throws(StoreError)

    /// Gives up what waits for a receiver and was received before a time, the oldest first.
    /// - Returns: the number given up; less than `limit` if no more are left.
    func giveUpForwards(
        to receiver: String, receivedBefore time: Timestamp, at now: Timestamp, limit: Int
    ) async throws(StoreError) -> Int

    /// Lists notifications whose receiver never accepted them, oldest first.
    func deadLetters(after: Forward.ID?, limit: Int) async throws(StoreError) -> [DeadLetter]

    /// Makes all dead letters due again, the first of each queue at once.
    /// - Returns: how many there were.
    func reviveDeadLetters(at now: Timestamp) async throws(StoreError) -> Int

    // MARK: Polling

    /// Takes subscriptions of an app about which the App Store should be asked, as ``NextCheck`` says, longest overdue first.
    /// - Parameters:
    ///   - time: only those are taken that are due before.
    ///   - nextDueAt: when they are due again if nothing newer arrives and nothing else is settled.
    func claimDueSubscriptions(
        of app: AppScope, dueBefore time: Timestamp, nextDueAt: Timestamp, limit: Int
    ) async throws(StoreError) -> [DueSubscription]

    /// Says when subscriptions are due again that the App Store did not answer about. One about which something newer has
    /// arrived since it was taken stays as it is.
    func settle(_ claims: [SettledClaim]) async throws(StoreError)

    /// How many subscriptions are due.
    /// - Parameter limit: where counting ends.
    func countDueSubscriptions(
        of app: AppScope, dueBefore time: Timestamp, limit: Int
    ) async throws(StoreError) -> Int

    /// The time up to which the notification history has been read; nil if it never was.
    func recoveryCheckpoint(of app: AppScope) async throws(StoreError) -> Timestamp?

    /// Moves the checkpoint forward. An earlier time than the present one is ignored, unless that is in the future: a clock
    /// was ahead when it was set.
    /// - Parameters:
    ///   - start: where the span without a gap begins that ends at the checkpoint.
    ///   - continuing: whether the known span goes on, if there is one. Its beginning then stays.
    func setRecoveryCheckpoint(
        _ time: Timestamp, since start: Timestamp, continuing: Bool, of app: AppScope, at now: Timestamp
    ) async throws(StoreError)

    // MARK: Raw payloads

    /// Lists raw payloads in the order in which they were stored.
    func payloads(after: StoredPayload.ID?, limit: Int) async throws(StoreError) -> [StoredPayload]

    /// Merges facts that were derived again from raw payloads.
    ///
    /// They replace the facts derived earlier from the same signed texts. An earlier fact without a replacement is withdrawn.
    /// If it had displaced a fact of another payload, that one comes back when its payload is read again.
    /// - Returns: the number of facts withdrawn.
    func rederive(_ payloads: [RereadPayload]) async throws(StoreError) -> Int

    /// Deletes raw payloads that are older than a limit and are not waiting to be forwarded.
    /// - Returns: the number deleted; less than `limit` if no more are left.
    func prunePayloads(receivedBefore: Timestamp, limit: Int) async throws(StoreError) -> Int

    /// Deletes raw payloads by the partition: each partition whose payloads are all older than a limit and wait for no receiver.
    /// Begins a new one when the newest has lasted for a span.
    ///
    /// A payload may be kept for one span longer. ``prunePayloads(receivedBefore:limit:)`` deletes those kept even longer.
    /// - Returns: nil if the engine has no partitions.
    func prunePartitions(
        receivedBefore: Timestamp, span: Duration, at now: Timestamp
    ) async throws(StoreError) -> PartitionPruning?

    // MARK: Work of one process

    /// Takes a piece of work, or keeps it, unless another process has it.
    /// - Parameter duration: when another process may take it, unless this one keeps it before.
    /// - Returns: whether this process has it.
    func claim(_ work: SharedWork, for duration: Duration) async throws(StoreError) -> Bool

    /// Gives a piece of work back, so that another process can take it at once.
    func release(_ work: SharedWork) async throws(StoreError)

    // MARK: Operation

    /// Makes a change that means nothing, to learn whether changes can be made.
    func probe() async throws(StoreError)

    /// How many changes this process has committed, and how often it has waited for the database.
    var counts: StoreCounts { get }

    /// Waits for changes under way and closes the database.
    func close() throws(StoreError)

    /// What arrived, for each app and environment.
    func intakes() async throws(StoreError) -> [Intake]

    /// What waits to be forwarded, for each receiver.
    func receivers() async throws(StoreError) -> [Receiver]

    /// Reads the whole database and verifies that it is consistent.
    /// - Returns: the faults found.
    func check() async throws(StoreError) -> [String]

    /// Copies the database to a file that appears whole and checked, while the service goes on.
    /// - Parameters:
    ///   - path: a file that does not exist yet.
    ///   - progress: called with the share that is done, from 0 to 1.
    func backUp(to path: String, progress: @escaping @Sendable (Double) -> Void) async throws(StoreError)

    /// Passes everything to `body`, as of one moment, apps first.
    func forEachRecord(
        _ body: @escaping @Sendable (StoreRecord) throws(StoreError) -> Void
    ) async throws(StoreError)

    /// Adds records of another store. Repeating it changes nothing.
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
