package import OfferCore
package import OfferEligibility
package import SubscriberStore

/// Forwards each call to the open store. If none is open, the call fails with the last fault. A successful change
/// clears the fault.
extension CurrentStore: SubscriberStore {
    /// The threads on which a task can read without switching threads; nil if there are none.
    package var executor: (any TaskExecutor)? { store?.executor }

    package var counts: StoreCounts { store?.counts ?? StoreCounts() }

    package func close() throws(StoreError) { try store?.close() }

    // MARK: Intake

    package func apply(_ delivery: Delivery) async throws(StoreError) -> DeliveryOutcome {
        try await write { store throws(StoreError) in try await store.apply(delivery) }
    }

    package func merge(_ facts: [SubscriberFact], in app: AppScope) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.merge(facts, in: app) }
    }

    // MARK: Customers

    package func customers(_ query: CustomerQuery, bundleID: BundleID, environment: AppStoreEnvironment?)
        async throws(StoreError) -> [StoredCustomer]
    {
        try await read { store throws(StoreError) in
            try await store.customers(query, bundleID: bundleID, environment: environment)
        }
    }

    package func subscriptionNumbers(in app: AppScope) async throws(StoreError) -> ClosedRange<Int64>? {
        try await read { store throws(StoreError) in try await store.subscriptionNumbers(in: app) }
    }

    package func customers(in app: AppScope, numbered numbers: ClosedRange<Int64>) async throws(StoreError)
        -> [NumberedCustomer]
    {
        try await read { store throws(StoreError) in try await store.customers(in: app, numbered: numbers) }
    }

    package func subscriptionFacts(in app: AppScope, numbered numbers: ClosedRange<Int64>) async throws(StoreError)
        -> [[SubscriberFact]]
    {
        try await read { store throws(StoreError) in try await store.subscriptionFacts(in: app, numbered: numbers) }
    }

    package func known(
        among names: Set<CustomerIdentifier>, in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> Set<CustomerIdentifier> {
        try await read { store throws(StoreError) in try await store.known(among: names, in: app, numbered: numbers) }
    }

    package func setTeamFacts(
        _ statements: [TeamFactStatement], in app: AppScope, tracking tracked: Set<FieldText>, at now: Timestamp
    ) async throws(StoreError) {
        try await write { store throws(StoreError) in
            try await store.setTeamFacts(statements, in: app, tracking: tracked, at: now)
        }
    }

    package func link(_ identifier: CustomerIdentifier, to account: Customer?, in app: AppScope, at now: Timestamp)
        async throws(StoreError)
    {
        try await write { store throws(StoreError) in try await store.link(identifier, to: account, in: app, at: now) }
    }

    package func erase(_ identifier: CustomerIdentifier, in app: AppScope) async throws(StoreError) -> Erasure {
        try await write { store throws(StoreError) in try await store.erase(identifier, in: app) }
    }

    // MARK: Reports

    package func retentionRecords(
        in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> [RetentionRecord] {
        try await read { store throws(StoreError) in try await store.retentionRecords(in: app, numbered: numbers) }
    }

    package func exposures(
        to offer: ReportedOffer, withTracked isTracking: Bool, after place: ExposurePlace, limit: Int
    ) async throws(StoreError) -> ExposurePage {
        try await read { store throws(StoreError) in
            try await store.exposures(to: offer, withTracked: isTracking, after: place, limit: limit)
        }
    }

    // MARK: Ledger

    package func reserve(_ request: LedgerRequest) async throws(StoreError) -> [LedgerResult] {
        // Only a successful change shows that the store works.
        request.changesNothing
            ? try await read { store throws(StoreError) in try await store.reserve(request) }
            : try await write { store throws(StoreError) in try await store.reserve(request) }
    }

    package func check(_ requests: [LedgerRequest]) async throws(StoreError) -> [[LedgerResult]] {
        try await read { store throws(StoreError) in try await store.check(requests) }
    }

    package func reserve(_ reservation: RetentionReservation) async throws(StoreError) -> RetentionReservationAnswer {
        try await write { store throws(StoreError) in try await store.reserve(reservation) }
    }

    package func retentionOffer(for request: UUIDText, in app: AppScope, at now: Timestamp) async throws(StoreError)
        -> RememberedRetentionOffer?
    {
        try await read { store throws(StoreError) in try await store.retentionOffer(for: request, in: app, at: now) }
    }

    package func record(_ shown: RetentionShown, in app: AppScope) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.record(shown, in: app) }
    }

    package func retentionShown(about subscriptions: Set<TransactionID>, in app: AppScope) async throws(StoreError)
        -> [RetentionShown]
    {
        try await read { store throws(StoreError) in
            try await store.retentionShown(about: subscriptions, in: app)
        }
    }

    package func pruneRetentionOffers(before time: Timestamp) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.pruneRetentionOffers(before: time) }
    }

    package func record(
        _ reports: [OfferEventReport], of app: AppScope, onlyOf owner: CustomerIdentifier?
    ) async throws(StoreError) -> [OfferEvent] {
        try await write { store throws(StoreError) in
            try await store.record(reports, of: app, onlyOf: owner)
        }
    }

    package func claim(
        _ claim: IdempotentRequest.Claim, at now: Timestamp, until end: Timestamp
    ) async throws(StoreError) -> IdempotentRequest.ClaimResult {
        try await write { store throws(StoreError) in try await store.claim(claim, at: now, until: end) }
    }

    package func keep(_ answer: IdempotentRequest.Answer, of claim: IdempotentRequest.Claim) async throws(StoreError)
        -> Bool
    {
        try await write { store throws(StoreError) in try await store.keep(answer, of: claim) }
    }

    package func release(_ claim: IdempotentRequest.Claim) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.release(claim) }
    }

    package func pruneIdempotentRequests(before time: Timestamp, limit: Int) async throws(StoreError) -> Int {
        try await write { store throws(StoreError) in
            try await store.pruneIdempotentRequests(before: time, limit: limit)
        }
    }

    package func withdraw(_ nonces: [Nonce], in app: AppScope) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.withdraw(nonces, in: app) }
    }

    package func ledgerEntries(of holders: [CustomerIdentifier], in app: AppScope) async throws(StoreError)
        -> LedgerEntries
    {
        try await read { store throws(StoreError) in try await store.ledgerEntries(of: holders, in: app) }
    }

    package func beginLedger(_ coverage: LedgerCoverage, at now: Timestamp) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.beginLedger(coverage, at: now) }
    }

    package func sampleSizes() async throws(StoreError) -> [SampleSize] {
        try await read { store throws(StoreError) in try await store.sampleSizes() }
    }

    package func unexplainedRedemptions(in apps: Set<AppScope>, limit: Int) async throws(StoreError)
        -> [LedgerRedemption]
    {
        try await read { store throws(StoreError) in try await store.unexplainedRedemptions(in: apps, limit: limit) }
    }

    package func acknowledge(_ acknowledgement: Acknowledgement) async throws(StoreError) -> Bool {
        try await write { store throws(StoreError) in try await store.acknowledge(acknowledgement) }
    }

    package func acknowledgedRedemptions(in apps: Set<AppScope>, limit: Int) async throws(StoreError)
        -> [AcknowledgedRedemption]
    {
        try await read { store throws(StoreError) in
            try await store.acknowledgedRedemptions(in: apps, limit: limit)
        }
    }

    package func redemptions(after number: Int64, limit: Int) async throws(StoreError) -> [LedgerRedemption] {
        try await read { store throws(StoreError) in try await store.redemptions(after: number, limit: limit) }
    }

    package func lastRedemption() async throws(StoreError) -> Int64 {
        try await read { store throws(StoreError) in try await store.lastRedemption() }
    }

    // MARK: Forwarding

    package func claimForwards(to receiver: String, dueAt now: Timestamp, leaseEnd: Timestamp, limit: Int)
        async throws(StoreError) -> [Forward]
    {
        try await write { store throws(StoreError) in
            try await store.claimForwards(to: receiver, dueAt: now, leaseEnd: leaseEnd, limit: limit)
        }
    }

    package func settle(_ forward: Forward.ID, _ outcome: ForwardOutcome) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.settle(forward, outcome) }
    }

    package func giveUpForwards(to receiver: String, receivedBefore time: Timestamp, at now: Timestamp, limit: Int)
        async throws(StoreError) -> Int
    {
        try await write { store throws(StoreError) in
            try await store.giveUpForwards(to: receiver, receivedBefore: time, at: now, limit: limit)
        }
    }

    package func deadLetters(after: Forward.ID?, limit: Int) async throws(StoreError) -> [DeadLetter] {
        try await read { store throws(StoreError) in try await store.deadLetters(after: after, limit: limit) }
    }

    package func reviveDeadLetters(at now: Timestamp) async throws(StoreError) -> Int {
        try await write { store throws(StoreError) in try await store.reviveDeadLetters(at: now) }
    }

    // MARK: Polling

    package func claimDueSubscriptions(of app: AppScope, dueBefore time: Timestamp, nextDueAt: Timestamp, limit: Int)
        async throws(StoreError) -> [DueSubscription]
    {
        try await write { store throws(StoreError) in
            try await store.claimDueSubscriptions(of: app, dueBefore: time, nextDueAt: nextDueAt, limit: limit)
        }
    }

    package func settle(_ claims: [SettledClaim]) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.settle(claims) }
    }

    package func countDueSubscriptions(of app: AppScope, dueBefore time: Timestamp, limit: Int) async throws(StoreError)
        -> Int
    {
        try await read { store throws(StoreError) in
            try await store.countDueSubscriptions(of: app, dueBefore: time, limit: limit)
        }
    }

    package func recoveryCheckpoint(of app: AppScope) async throws(StoreError) -> Timestamp? {
        try await read { store throws(StoreError) in try await store.recoveryCheckpoint(of: app) }
    }

    package func setRecoveryCheckpoint(
        _ time: Timestamp, since start: Timestamp, continuing: Bool, of app: AppScope, at now: Timestamp
    ) async throws(StoreError) {
        try await write { store throws(StoreError) in
            try await store.setRecoveryCheckpoint(time, since: start, continuing: continuing, of: app, at: now)
        }
    }

    // MARK: Raw payloads

    package func payloads(after: StoredPayload.ID?, limit: Int) async throws(StoreError) -> [StoredPayload] {
        try await read { store throws(StoreError) in try await store.payloads(after: after, limit: limit) }
    }

    package func rederive(_ payloads: [RereadPayload]) async throws(StoreError) -> Int {
        try await write { store throws(StoreError) in try await store.rederive(payloads) }
    }

    package func prunePayloads(receivedBefore: Timestamp, limit: Int) async throws(StoreError) -> Int {
        try await write { store throws(StoreError) in
            try await store.prunePayloads(receivedBefore: receivedBefore, limit: limit)
        }
    }

    package func prunePartitions(receivedBefore: Timestamp, span: Duration, at now: Timestamp) async throws(StoreError)
        -> PartitionPruning?
    {
        try await write { store throws(StoreError) in
            try await store.prunePartitions(receivedBefore: receivedBefore, span: span, at: now)
        }
    }

    // MARK: Work of one process

    package func claim(_ work: SharedWork, for duration: Duration) async throws(StoreError) -> Bool {
        try await read { store throws(StoreError) in try await store.claim(work, for: duration) }
    }

    package func release(_ work: SharedWork) async throws(StoreError) {
        try await read { store throws(StoreError) in try await store.release(work) }
    }

    // MARK: Operation

    package func probe() async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.probe() }
    }

    package func intakes() async throws(StoreError) -> [Intake] {
        try await read { store throws(StoreError) in try await store.intakes() }
    }

    package func receivers() async throws(StoreError) -> [Receiver] {
        try await read { store throws(StoreError) in try await store.receivers() }
    }

    package func check() async throws(StoreError) -> [String] {
        try await read { store throws(StoreError) in try await store.check() }
    }

    package func backUp(to path: String, progress: @escaping @Sendable (Double) -> Void) async throws(StoreError) {
        try await read { store throws(StoreError) in try await store.backUp(to: path, progress: progress) }
    }

    package func forEachRecord(
        _ body: @escaping @Sendable (StoreRecord) throws(StoreError) -> Void
    ) async throws(StoreError) {
        try await read { store throws(StoreError) in try await store.forEachRecord(body) }
    }

    package func add(_ records: [StoreRecord]) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.add(records) }
    }
}
