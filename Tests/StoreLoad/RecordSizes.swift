import OfferCore
import OfferEligibility
import OfferSQLite
import StoreTestSupport
import SubscriberStore

/// Adds a number of records of each kind that is kept for reports, as long as real ones. With SQLite, it prints how many bytes each
/// takes, indexes included.
struct RecordSizes {
    let store: any SubscriberStore
    let count: Int
    /// The path of a database in SQLite; nil for PostgreSQL.
    let path: String?

    static func run(_ location: StoreLocation, count: Int) async throws {
        let path: String? = if case .sqlite(let path) = location { path } else { nil }
        let store = try location.open()
        let sizes = RecordSizes(store: store, count: count, path: path)
        try await sizes.measure("subscription with one period") { numbers in
            try await store.merge(numbers.flatMap { Sample.facts($0) }, in: Sample.production)
        }
        try await sizes.measure("exposure") { try await store.add($0.map(exposure)) }
        try await sizes.measure("event from an app") { try await store.add($0.map(event)) }
        try await sizes.measure("change of a renewal") { numbers in
            try await store.merge(numbers.map(change), in: Sample.production)
        }
        try await sizes.measure("retention answer") { try await store.add($0.map(shown)) }
        // One after the other, each in a change of its own.
        try await sizes.measure("request with a key") { numbers in
            for number in numbers { try await keep(number, in: store) }
        }
        try store.close()
    }

    private func measure(_ title: String, _ add: (Range<Int>) async throws -> Void) async throws {
        let before = try size()
        for start in stride(from: 0, to: count, by: 500) { try await add(start..<min(start + 500, count)) }
        if let before, let after = try size() { print("\(title): \((after - before) / count) bytes") }
    }

    /// The size of the database with the changes that are not in its file yet; nil for PostgreSQL.
    private func size() throws -> Int? {
        try path.map { path in
            let connection = try SQLiteConnection(path: path)
            let (pages, size) = try (
                connection.integers("PRAGMA page_count").first, connection.integers("PRAGMA page_size").first
            )
            return Int((pages ?? 0) * (size ?? 0))
        }
    }

    // MARK: Records

    private static func account(_ number: Int) -> CustomerIdentifier {
        .appTransactionID(Sample.id("\(704_897_469_903_278_336 + number)"))
    }

    private static func exposure(_ number: Int) -> StoreRecord {
        .exposure(
            Sample.production,
            Sample.exposure(of: account(number), .offered, "retention_50off_3m", sample: "retention_2026"))
    }

    private static func event(_ number: Int) -> StoreRecord {
        let offer = Sample.exposure(of: account(number), .offered, "retention_50off_3m")
        return .offerEvent(
            Sample.production,
            OfferEvent(
                subject: offer.subject, kind: .shown, productID: offer.productID,
                offerID: Sample.offer("retention_50off_3m", nonces: [], expiresAt: 0).offerID,
                at: Sample.day(1) + .milliseconds(number), nonce: Sample.nonce(UInt64(number))))
    }

    private static func change(_ number: Int) -> SubscriberFact {
        let original = Sample.facts(number)[0].originalTransactionID.text.description
        let info = Sample.renewal(of: original, signed: 3) { $0.renewalDate = Sample.day(30) }
        guard case .renewalInfo(let renewal) = info.value else { return info }
        let change = RenewalChange(
            type: "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_DISABLED", renewal: renewal)
        return Sample.fact(.renewalChange(change), original, of: original, signed: 3)
    }

    private static func shown(_ number: Int) -> StoreRecord {
        .retentionShown(
            Sample.production,
            Sample.shown(
                UInt64(number), of: Sample.facts(number)[0].originalTransactionID, answer: "promotional_offer",
                offer: "retention_50off_3m"))
    }

    /// Keeps the answer to a decision with one signature, which has about 800 bytes.
    private static func keep(_ number: Int, in store: any SubscriberStore) async throws {
        let request = IdempotentRequest(
            id: Sample.digest(Array("key \(number)".utf8)), digest: Sample.digest(Array("body \(number)".utf8)))
        let claim = IdempotentRequest.Claim(request, owner: UUIDText(high: 1, low: UInt64(number)))
        _ = try await store.claim(claim, at: Sample.day(1), until: Sample.day(2))
        let body = Array(String(repeating: #"{"offerID":"retention_50off_3m"}"#, count: 25).utf8)
        _ = try await store.keep(IdempotentRequest.Answer(status: 200, body: body), of: claim)
    }
}
