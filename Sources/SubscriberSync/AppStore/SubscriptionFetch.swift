package import AppStoreAPI
import AppStoreData
package import NIOCore
package import OfferConfiguration
package import OfferCore
import OfferCrypto
package import OfferEligibility
import SubscriberStore

/// Refreshes one customer: requests data from the App Store, verifies the answers, and merges them into the store.
package struct SubscriptionFetch: Sendable {
    private let client: AppStoreClient
    private let trust: AppStoreTrust
    private let store: CurrentStore
    private let policy: @Sendable () -> Policy
    private let now: @Sendable () -> Timestamp

    /// The maximum number of pages of one history, at 20 transactions a page.
    static let maximumPages = 1000

    package init(
        client: AppStoreClient, trust: AppStoreTrust, store: CurrentStore, policy: @escaping @Sendable () -> Policy,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.client = client
        self.trust = trust
        self.store = store
        self.policy = policy
        self.now = now
    }

    /// An answer of the App Store.
    package struct Answer: Sendable {
        /// The facts, which are already durable.
        package fileprivate(set) var facts: [SubscriberFact] = []
        /// False if an entry was omitted. A rule may depend on that entry.
        package fileprivate(set) var isWhole = true

        /// True if the App Store knows the customer but no purchases of theirs.
        var isEmpty: Bool { isWhole && facts.isEmpty }
    }

    /// Requests the state of all subscriptions of a customer.
    /// - Parameters:
    ///   - id: any transaction of the customer.
    ///   - deadline: the deadline for the App Store's answer; nil for no deadline.
    @discardableResult
    package func statuses(
        of id: TransactionNumber, in app: AppScope, by deadline: NIODeadline? = nil
    ) async throws(SyncError) -> Answer {
        let statuses = try await send(.subscriptionStatuses(of: id), app, deadline)
        let reading: SignedAnswerReader.Reading
        do { reading = try reader(for: app).read(statuses) } catch { throw .data(error) }
        try await keep(reading, of: app)
        return Answer(facts: reading.facts, isWhole: reading.leftOut.isEmpty)
    }

    /// Requests the transactions of an order.
    /// - Returns: no facts for an order that the app does not have.
    package func transactions(
        ofOrder number: OrderNumber, in app: AppScope, by deadline: NIODeadline? = nil
    ) async throws(SyncError) -> Answer {
        let order = try await send(.transactions(ofOrder: number), app, deadline)
        let reading: SignedAnswerReader.Reading
        do { reading = try reader(for: app).read(order) } catch { throw .data(error) }
        try await keep(reading, of: app)
        return Answer(facts: reading.facts, isWhole: reading.leftOut.isEmpty)
    }

    /// Requests all transactions of a customer, or those modified since the history was last read completely.
    @discardableResult
    package func history(
        of id: TransactionNumber, in app: AppScope, by deadline: NIODeadline? = nil
    ) async throws(SyncError) -> Answer {
        let known = try await readHistory(of: id, in: app)
        do throws(SyncError) {
            return try await history(of: id, in: app, after: known, by: deadline)
        } catch {
            guard known != nil, case .api(.refused(let code)) = error, code.meansRestart else { throw error }
            return try await history(of: id, in: app, after: nil, by: deadline)
        }
    }

    private func history(
        of id: TransactionNumber, in app: AppScope, after known: ReadHistory?, by deadline: NIODeadline?
    ) async throws(SyncError) -> Answer {
        var answer = Answer()
        var revision = known?.revision
        var pages = PageSequence(link: "revision", from: revision?.text, maximumCount: Self.maximumPages)
        while true {
            let page = try await send(.transactionHistory(of: id, after: revision), app, deadline)
            let reading: SignedAnswerReader.Reading
            do { reading = try reader(for: app).read(page) } catch { throw .data(error) }
            try await keep(reading, of: app)
            answer.facts += reading.facts
            answer.isWhole = answer.isWhole && reading.leftOut.isEmpty
            revision = page.revision
            guard page.hasMore else { break }
            do { try pages.follow(page.revision.text) } catch { throw .api(error) }
        }
        guard answer.isWhole else { return answer }
        let subscriptions = (known?.subscriptions ?? []).union(answer.facts.map(\.originalTransactionID))
        try await keep(marks(of: subscriptions, at: revision), of: app)
        return answer
    }

    /// A history that was read to its end in an earlier run.
    private struct ReadHistory {
        let revision: HistoryRevision
        let subscriptions: Set<TransactionID>
    }

    private func readHistory(of id: TransactionNumber, in app: AppScope) async throws(SyncError) -> ReadHistory? {
        let transactionID: TransactionID
        do { transactionID = try TransactionID(utf8: Array(id.text.utf8)) } catch { return nil }
        let customers: [StoredCustomer]
        do throws(StoreError) {
            customers = try await store.customers(
                known: .transactionID(transactionID), bundleID: app.bundleID, environment: app.environment)
        } catch { throw .store(error) }
        let facts = customers.flatMap(\.facts)
        // A customer may have subscriptions of two Apple Accounts, each with its own history.
        guard let own = facts.first(where: { $0.key.id == transactionID && $0.key.kind == .transaction }) else {
            return nil
        }
        let marks = facts.filter { $0.key.kind == .wholeHistory }
        guard let mark = marks.first(where: { $0.originalTransactionID == own.originalTransactionID }),
            case .wholeHistory(let revision) = mark.value
        else { return nil }
        return ReadHistory(
            revision: HistoryRevision(revision),
            subscriptions: Set(marks.filter { $0.value == mark.value }.map(\.originalTransactionID)))
    }

    /// Returns facts that mark the history of each subscription's customer as completely read.
    private func marks(
        of subscriptions: Set<TransactionID>, at revision: HistoryRevision?
    ) throws(SyncError) -> [SubscriberFact] {
        guard let revision else { return [] }
        let digest: [UInt8]
        do { digest = try SHA256.hash(Array(revision.text.utf8)) } catch {
            throw .data(DataRefusal(VerificationFailure(.verificationUnavailable)))
        }
        let now = now()
        return subscriptions.map { original in
            SubscriberFact(
                .wholeHistory(revision.text), transactionID: original, originalTransactionID: original,
                signedDate: now, digest: digest)
        }
    }

    private func send<Answer>(
        _ call: APICall<Answer>, _ app: AppScope, _ deadline: NIODeadline?
    ) async throws(SyncError) -> Answer {
        do { return try await client.send(call, for: app, by: deadline) } catch { throw .api(error) }
    }

    private func reader(for app: AppScope) -> SignedAnswerReader {
        SignedAnswerReader(trust, for: app, under: policy(), at: now())
    }

    private func keep(_ reading: SignedAnswerReader.Reading, of app: AppScope) async throws(SyncError) {
        for refusal in reading.leftOut { trust.noteLeftOut(refusal, of: app) }
        do throws(DataRefusal) {
            for chain in reading.chains { try await trust.requireGood(chain) }
            let now = now()
            guard reading.facts.allSatisfy({ SigningTime.isPlausible($0.signedDate, at: now) }) else {
                throw DataRefusal(VerificationFailure(.signedInFuture))
            }
        } catch { throw .data(error) }
        try await keep(reading.facts, of: app)
    }

    private func keep(_ facts: [SubscriberFact], of app: AppScope) async throws(SyncError) {
        guard !facts.isEmpty else { return }
        do throws(StoreError) {
            try await store.merge(facts, in: app)
        } catch { throw .store(error) }
    }
}

extension SignedAnswerReader {
    /// - Parameter policy: supplies the app's Apple ID.
    init(_ trust: AppStoreTrust, for app: AppScope, under policy: Policy, at now: Timestamp) {
        self.init(
            trust.verifier, for: app, appAppleID: policy.catalogue?.apps[app.bundleID]?.appAppleID, at: now)
    }
}
