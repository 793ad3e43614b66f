import OfferCore
import OfferPostgreSQL

/// The partitions of raw payloads and of the subscriptions named in them. Each span of time has a pair of partitions,
/// numbered from 1.
///
/// The `id` of a row's notification determines the row's partition. A partition has room for 2^40 notifications, so
/// none is ever full. At the end of the newest partition's span, the next one is created, and then the `id` sequence
/// moves to it. If that happens late, the newest partition covers more time.
struct PayloadPartitions {
    /// The number of `id`s in a partition.
    static let size: Int64 = 1 << 40

    private let db: PostgreSQLDatabase
    /// The numbers of the partitions, oldest first. There is always at least one.
    private let numbers: [Int64]

    init(_ db: any Database) throws {
        guard let db = db as? PostgreSQLDatabase else { throw StoreError(.fault, "only PostgreSQL has partitions") }
        self.db = db
        let prefix = "payload_"
        numbers = try db.rows(
            """
            SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
            WHERE inhparent = CAST('payload' AS regclass)
            """, []
        ).map { row in
            let name: String = try row["name"]
            guard name.hasPrefix(prefix), let number = Int64(name.dropFirst(prefix.count)), number > 0 else {
                throw StoreError(.fault, "the partition \(name) was not created by this program")
            }
            return number
        }.sorted()
        guard !numbers.isEmpty else { throw StoreError(.fault, "the table payload has no partitions") }
    }

    // MARK: The newest partition

    /// Returns the number of the next partition; nil if the newest partition has no payloads from before a time.
    func next(lastingSince time: Timestamp) throws -> Int64? {
        guard let newest = numbers.last, let first = try received(newest)?.first, first < time else { return nil }
        return newest + 1
    }

    /// Creates a partition. Notifications go to it only after ``advance()``.
    func begin(_ number: Int64) throws {
        let (lowest, end) = Self.bounds(of: number)
        try db.connection.run(
            """
            CREATE TABLE payload_\(number) PARTITION OF payload FOR VALUES FROM (\(lowest)) TO (\(end));
            CREATE TABLE payload_subscription_\(number) PARTITION OF payload_subscription
            FOR VALUES FROM (\(lowest)) TO (\(end))
            """)
    }

    /// Moves the `id` sequence of notifications to the newest partition, and never back. The partition must be
    /// committed: a rollback removes a partition, but does not reset a sequence.
    func advance() throws {
        guard try isBehind() else { return }
        _ = try db.rows("SELECT setval(pg_get_serial_sequence('notification', 'id'), ?)", [lowestOfNewest - 1])
    }

    /// Returns true if notifications still go to a partition before the newest one.
    func isBehind() throws -> Bool { try lastID() < lowestOfNewest - 1 }

    private var lowestOfNewest: Int64 { numbers.last.map { Self.bounds(of: $0).lowest } ?? 0 }

    private func lastID() throws -> Int64 {
        try db.number(
            "SELECT pg_sequence_last_value(CAST(pg_get_serial_sequence('notification', 'id') AS regclass))", []) ?? 0
    }

    // MARK: Old partitions

    /// Returns the partitions before the newest one whose payloads are all from before a time and not waiting to be
    /// forwarded.
    func disposable(receivedBefore time: Timestamp) throws -> [Int64] {
        try numbers.dropLast().filter { number in
            if let last = try received(number)?.last, last >= time { return false }
            let (lowest, end) = Self.bounds(of: number)
            let waiting = try db.row(
                "SELECT 1 FROM forward WHERE payload >= ? AND payload < ? AND died_at IS NULL LIMIT 1", [lowest, end])
            return waiting == nil
        }
    }

    /// Returns the dead letters in a partition, including letters revived in the meantime.
    func letters(in number: Int64, limit: Int) throws -> [ForwardTable.Entry] {
        let (lowest, end) = Self.bounds(of: number)
        return try db.rows("SELECT * FROM forward WHERE payload >= ? AND payload < ? LIMIT ?", [lowest, end, limit])
            .map(ForwardTable.Entry.init)
    }

    func drop(_ number: Int64) throws {
        try db.connection.run("DROP TABLE payload_\(number); DROP TABLE payload_subscription_\(number)")
    }

    /// Returns the receipt times of the first and last payloads in a partition; nil if the partition is empty.
    private func received(_ number: Int64) throws -> (first: Timestamp, last: Timestamp)? {
        let result = try db.connection.executeOnce("SELECT min(received_at), max(received_at) FROM payload_\(number)")
        guard case .integer(let first)? = result.rows.first?.first, case .integer(let last)? = result.rows.first?.last
        else { return nil }
        return (Timestamp(milliseconds: first), Timestamp(milliseconds: last))
    }

    private static func bounds(of number: Int64) -> (lowest: Int64, end: Int64) { ((number - 1) * size, number * size) }
}
