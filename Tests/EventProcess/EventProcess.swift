import Foundation
import Logging
import NIOConcurrencyHelpers
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferTelemetry
import SubscriberStore
import SubscriberSync

/// Finds and delivers the events of customers until a test kills it, on clocks that the test sets.
///
/// Usage: event-process DATABASE CONFIGURATION ROOTS. ROOTS are the certificates to trust for receivers. Each line of standard
/// input is a command, with a time in milliseconds since 1970:
/// `deliver TIME` sets the time of deliveries, which go on all the time.
/// `find TIME` sets the time of the search for events, and begins it.
/// `rest` ends the search. The answer is `resting`, once it has ended.
@main
enum EventProcess {
    private struct Orders {
        var findsAt: Timestamp?
        var deliversAt = Timestamp(milliseconds: 0)
        var mayRest = false

        mutating func take(_ line: String) {
            let words = line.split(separator: " ")
            let time = words.count == 2 ? Int64(words[1]).map(Timestamp.init(milliseconds:)) : nil
            switch (words.first, time) {
            case ("deliver", let time?): deliversAt = time
            case ("find", let time?): findsAt = time
            case ("rest", nil): (findsAt, mayRest) = (nil, true)
            default: break
            }
        }
    }

    private struct Unusable: Error {}

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let location = StoreLocation(arguments[1]) else {
            return print("usage: event-process DATABASE CONFIGURATION ROOTS")
        }
        let (file, problems) = ConfigurationFile.read(try bytes(arguments[2]), name: "offers.yaml")
        guard problems.isEmpty else { throw Unusable() }
        let log = Logger(label: "event-process")
        let store = CurrentStore(StoreSettings(location: location), store: try location.open(), log: log)
        let metrics = SyncMetrics(MetricRegistry())
        let orders = NIOLockedValueBox(Orders())
        // The last time of a search, as it may be asked for after its end.
        let found = NIOLockedValueBox(Timestamp(milliseconds: 0))
        let worker = EventWorker(
            store, policy: CurrentPolicy(Policy(ring: KeyRing(), catalogue: file.catalogue)),
            background: BackgroundReading(), now: { found.withLockedValue { $0 } }, metrics: metrics, log: log)
        let forwarding = ForwardingWorker(
            store,
            client: try ForwardClient(
                ForwardSettings(roots: X509Certificate.readAll(try bytes(arguments[3]))), timeout: .seconds(2)),
            now: { orders.withLockedValue { $0.deliversAt } }, readiness: Readiness(), metrics: metrics, log: log)
        Thread.detachNewThread {
            while let line = readLine() { orders.withLockedValue { $0.take(line) } }
            exit(0)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await forwarding.run() }
            group.addTask {
                while true {
                    if let time = orders.withLockedValue({ $0.findsAt }) {
                        found.withLockedValue { $0 = time }
                        await worker.round()
                    } else if orders.withLockedValue({ $0.mayRest }) {
                        orders.withLockedValue { $0.mayRest = false }
                        FileHandle.standardOutput.write(Data("resting\n".utf8))
                    }
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            try await group.waitForAll()
        }
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(filePath: path)))
    }
}
