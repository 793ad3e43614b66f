import Glibc
import OfferSQLite
import StoreTestSupport
import SubscriberStore

/// Applies deliveries from many tasks until it is killed, and names each on standard output once it is durable.
///
/// Usage: store-load DATABASE RUN. Each run has deliveries of its own, about the subscriptions of every run.
/// store-load measure DATABASE COUNT fills a database with subscriptions and measures it instead.
/// store-load fill DATABASE COUNT only fills it: with customers about whom a rule can decide.
/// store-load activity DATABASE COUNT adds what customers of a filled one did in the last weeks.
/// store-load records DATABASE COUNT adds records for reports, and prints their sizes.
/// All of these also take the connection URL of a PostgreSQL database.
/// store-load lock DATABASE holds the lock for writing until standard input ends.
@main
enum StoreLoad {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 4, arguments[1] == "measure", let count = Int(arguments[3]) {
            return try await Measurements.run(location(arguments[2]), count: count)
        }
        if arguments.count == 4, arguments[1] == "fill", let count = Int(arguments[3]) {
            return try await Measurements.fill(location(arguments[2]), count: count)
        }
        if arguments.count == 4, arguments[1] == "activity", let count = Int(arguments[3]) {
            return try await Measurements.addActivity(location(arguments[2]), count: count)
        }
        if arguments.count == 4, arguments[1] == "records", let count = Int(arguments[3]) {
            return try await RecordSizes.run(location(arguments[2]), count: count)
        }
        guard arguments.count == 3 else { return print("usage: store-load DATABASE RUN") }
        if arguments[1] == "lock" { return try lock(arguments[2]) }
        let store = try SQLiteStore(SQLiteSettings(path: arguments[1]))
        let run = arguments[2]
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask {
                    for number in 0... {
                        await apply("\(run)-\(task)-\(number)", task * 7 + number % 50, number, store)
                    }
                }
            }
        }
    }

    private static func location(_ text: String) -> StoreLocation { StoreLocation(text) ?? .sqlite(path: text) }

    private static func lock(_ path: String) throws {
        try SQLiteConnection(path: path).transaction(.immediate) {
            acknowledge("locked")
            while readLine() != nil {}
        }
    }

    private static func apply(_ uuid: String, _ subscription: Int, _ number: Int, _ store: SQLiteStore) async {
        let facts = Sample.facts(subscription, signed: Double(number))
        let delivery = Sample.delivery(uuid, facts, received: Double(number), to: ["https://backend.example/a"])
        do {
            guard try await store.apply(delivery) == .applied else { return complain("\(uuid) was known") }
            acknowledge(uuid)
            // A repeat must change nothing.
            guard try await store.apply(delivery) == .known else { return complain("\(uuid) was applied twice") }
        } catch {
            complain("\(uuid): \(error)")
        }
    }

    /// One system call for each line, so that a kill leaves no line that was not written.
    private static func acknowledge(_ uuid: String) {
        let line = Array("\(uuid)\n".utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
    }

    private static func complain(_ text: String) {
        acknowledge("error: \(text)")
        exit(1)
    }
}
