import OfferCore
import OfferPostgreSQL

/// The partitions of raw payloads and of the subscriptions in them, one pair for each span of time.
///
/// Rows belong to a partition by the number of their notification, which is a key. A partition has room for 2^40 numbers, so none is
/// ever full. When the newest has lasted for its span, the sequence of the numbers moves on to the next. If that happens late,
/// the newest partition lasts longer, and nothing else.
struct PayloadPartitions {
    private let db: PostgreSQLDatabase
    /// Their places in time, the oldest first. There is always one.
    private let places: [Int64]

    private static let numbers: Int64 = 1 << 40

    init(_ db: any Database) throws {
        guard let db = db as? PostgreSQLDatabase else { throw StoreError(.fault, "only PostgreSQL has partitions") }
        self.db = db
        let prefix = "payload_"
        places = try db.rows(
            """
            SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
            WHERE inhparent = CAST('payload' AS regclass)
            """, []
        ).map { row in
            let name: String = try row["name"]
            guard name.hasPrefix(prefix), let place = Int64(name.dropFirst(prefix.count)), place > 0 else {
                throw StoreError(.fault, "the partition \(name) is not one of ours")
            }
            return place
        }.sorted()
        guard !places.isEmpty else { throw StoreError(.fault, "the table payload has no partitions") }
    }

    /// The next place, if the newest partition has payloads from before a time.
    func next(lastingSince time: Timestamp) throws -> Int64? {
        guard let newest = places.last, let first = try received(newest)?.first, first < time else { return nil }
        return newest + 1
    }

    /// The partitions without a payload from after a time, and without one that still is to be forwarded. The newest stays.
    func disposable(receivedBefore time: Timestamp) throws -> [Int64] {
        try places.dropLast().filter { place in
            if let last = try received(place)?.last, last >= time { return false }
            let (lowest, end) = Self.bounds(of: place)
            let waiting = try db.row(
                "SELECT 1 FROM forward WHERE payload >= ? AND payload < ? AND died_at IS NULL LIMIT 1", [lowest, end])
            return waiting == nil
        }
    }

    /// Dead letters in a partition.
    func deadLetters(in place: Int64, limit: Int) throws -> [ForwardTable.Entry] {
        let (lowest, end) = Self.bounds(of: place)
        return try db.rows("SELECT * FROM forward WHERE payload >= ? AND payload < ? LIMIT ?", [lowest, end, limit])
            .map(ForwardTable.Entry.init)
    }

    /// Makes a partition, and gives notifications the numbers that belong to it.
    func begin(_ place: Int64) throws {
        let (lowest, end) = Self.bounds(of: place)
        try db.connection.run(
            """
            CREATE TABLE payload_\(place) PARTITION OF payload FOR VALUES FROM (\(lowest)) TO (\(end));
            CREATE TABLE payload_subscription_\(place) PARTITION OF payload_subscription
            FOR VALUES FROM (\(lowest)) TO (\(end));
            SELECT setval(pg_get_serial_sequence('notification', 'id'), \(lowest), false)
            """)
    }

    func drop(_ place: Int64) throws {
        try db.connection.run("DROP TABLE payload_subscription_\(place); DROP TABLE payload_\(place)")
    }

    /// The times of the first and the last payload in a partition; nil if it is empty.
    private func received(_ place: Int64) throws -> (first: Timestamp, last: Timestamp)? {
        let result = try db.connection.executeOnce("SELECT min(received_at), max(received_at) FROM payload_\(place)")
        guard case .integer(let first)? = result.rows.first?.first, case .integer(let last)? = result.rows.first?.last
        else { return nil }
        return (Timestamp(milliseconds: first), Timestamp(milliseconds: last))
    }

    /// The numbers of the notifications in a partition.
    private static func bounds(of place: Int64) -> (lowest: Int64, end: Int64) {
        ((place - 1) * numbers, place * numbers)
    }
}
