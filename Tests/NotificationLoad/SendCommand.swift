import AppStoreTestSupport
import ArgumentParser

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send notifications, and print what became of them as one line of JSON.",
        discussion: "A connection that breaks or is refused is not opened again; its notification counts as lost.")

    @Option(help: "The folder that make-roots has written.")
    var roots: String

    @Option(help: "The URL of the intake, such as http://127.0.0.1:8080/v1/app-store-notifications.")
    var url: String

    @Option(help: "The number of notifications.")
    var count: Int

    @Option(help: "The number of connections.")
    var connections = 1

    @Option(help: "The maximum number of notifications a second. Latencies then count from the time each was due.")
    var rate: Double?

    @Option(help: "The number of subscriptions that the notifications are about.")
    var subscriptions = 1000

    @Option(help: "A file to which the notificationUUID of each notification with status 200 is added.")
    var acknowledged: String?

    @Option(help: "The same seed plans the same notifications.")
    var seed: UInt64 = 1

    @Flag(help: "Sign all notifications before the clock starts.")
    var prepare = false

    /// About 2 GiB.
    private static let maximumPrepared = 120_000

    func validate() throws {
        guard count > 0, connections > 0, subscriptions > 0, rate ?? 1 > 0 else {
            throw ValidationError("counts and rates must be positive")
        }
        guard !prepare || count <= Self.maximumPrepared else {
            throw ValidationError("--prepare keeps all in memory, so --count can be \(Self.maximumPrepared) at most")
        }
    }

    func run() async throws {
        let source = try NotificationSource(
            signer: NotificationSigner(folder: roots),
            plan: NotificationPlan(seed: seed, subscriptions: subscriptions), count: count)
        if prepare { try source.prepare() }
        let sender = try Sender(
            source, url: url, connections: connections, rate: rate,
            acknowledged: acknowledged.map { try LineFile(path: $0) })
        print(await sender.run().json)
    }
}
