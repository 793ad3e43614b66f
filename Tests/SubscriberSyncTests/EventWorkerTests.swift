import Foundation
import NIOConcurrencyHelpers
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferTelemetry
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import SubscriberSync

@Suite("The worker of events")
struct EventWorkerTests {
    private static func catalogue(
        _ url: String, _ offer: String = "{offerID: stay, rule: {subscription: {autoRenew: off}}}"
    ) throws -> Catalogue {
        let yaml = """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                events: {to: ["\(url)"]}
                products:
                  - productID: monthly
                    subscriptionGroupID: "21012345"
                    offers: [\(offer)]
            """
        let (file, problems) = ConfigurationFile.read(Array(yaml.utf8), name: "offers.yaml")
        try #require(problems.isEmpty, "\(problems)")
        return try #require(file.catalogue)
    }

    private static func renewal(_ number: Int, isOn: Bool, signed day: Double) -> SubscriberFact {
        let original = Sample.facts(number)[0].originalTransactionID
        return Sample.renewal(of: original.text.description, signed: day) { renewal in
            renewal = Renewal(productID: renewal.productID, autoRenewStatus: isOn ? .on : .off)
            renewal.appAccountToken = Sample.token(UInt64(number))
        }
    }

    private struct Event: Hashable {
        let id: String
        let type: String
        let customer: String
    }

    private static func event(_ body: [UInt8]) -> Event? {
        guard let json = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any],
            let customer = json["customer"] as? [String: Any]
        else { return nil }
        return Event(
            id: json["id"] as? String ?? "", type: json["type"] as? String ?? "",
            customer: customer["originalTransactionID"] as? String ?? "")
    }

    @Test(
        "three processes find each change of 60 customers once and in order, while the receiver fails and processes end"
    )
    func processes() async throws {
        let accepted = NIOLockedValueBox<[Event]>([])
        let count = NIOLockedValueBox(0)
        let receiver = try await TestReceiver { request in
            let place = count.withLockedValue { count in
                count += 1
                return count
            }
            // Every third is refused, and some are accepted although the answer is lost.
            if place % 3 == 0 { return 503 }
            if let event = Self.event(request.body) { accepted.withLockedValue { $0.append(event) } }
            return place % 17 == 0 ? nil : 200
        }
        let server = try TestPostgreSQL.shared.get()
        let url = try server.makeDatabase()
        let now = NIOLockedValueBox(Sample.day(10))
        let catalogue = try Self.catalogue(receiver.url)
        func process() throws -> (CurrentStore, Task<Void, any Error>) {
            let store = CurrentStore(
                StoreSettings(location: .postgreSQL(url: url)),
                store: try PostgreSQLStore(PostgreSQLSettings(url: url, writers: 2, readers: 1)),
                log: RecordedLog().logger)
            let metrics = SyncMetrics(MetricRegistry())
            let time: @Sendable () -> Timestamp = { now.withLockedValue { $0 } }
            let worker = EventWorker(
                store, policy: CurrentPolicy(Policy(ring: KeyRing(), catalogue: catalogue)),
                background: BackgroundReading(), now: time, metrics: metrics, log: RecordedLog().logger)
            let forwarding = ForwardingWorker(
                store, client: try ForwardClient(ForwardSettings(), timeout: .seconds(1)), now: time,
                readiness: Readiness(), metrics: metrics, log: RecordedLog().logger)
            let task = Task {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await forwarding.run() }
                    group.addTask {
                        while !Task.isCancelled {
                            await worker.round()
                            try await Task.sleep(for: .milliseconds(20))
                        }
                    }
                    try await group.waitForAll()
                }
            }
            return (store, task)
        }
        var processes = try (0..<3).map { _ in try process() }
        let (writer, _) = processes[0]
        try await writer.beginReviews(of: Sample.production, by: "before", at: Sample.day(0))
        for step in 1...4 {
            for number in 1...60 {
                var facts = step == 1 ? Sample.facts(number) : []
                facts.append(Self.renewal(number, isOn: step % 2 == 0, signed: Double(step)))
                try await writer.merge(facts, in: Sample.production)
            }
            // One process ends at any place, and another one begins.
            let (store, task) = processes.removeLast()
            task.cancel()
            _ = try? await task.value
            try store.store?.close()
            processes.append(try process())
            // What failed is due again.
            try await waitUntil {
                now.withLockedValue { $0 = $0 + .seconds(120) }
                let pending = try await writer.receivers().map(\.pending)
                return pending == [0] && accepted.withLockedValue { Set($0).count } == 60 * step
            }
        }
        let events = accepted.withLockedValue { $0 }
        for number in 1...60 {
            let original = Sample.facts(number)[0].originalTransactionID.text.description
            var seen: Set<String> = []
            let own = events.filter { $0.customer == original && seen.insert($0.id).inserted }
            #expect(
                own.map(\.type)
                    == ["became_eligible", "no_longer_eligible", "became_eligible", "no_longer_eligible"])
        }
        #expect(events.count > Set(events).count, "some arrived twice, with the same ID")
        for (store, task) in processes {
            task.cancel()
            _ = try? await task.value
            try store.store?.close()
        }
    }

    /// A process that finds events in a shared database, with a clock of the test.
    private struct Finder {
        let store: CurrentStore
        let registry = MetricRegistry()
        let metrics: SyncMetrics
        let worker: EventWorker
        let task: Task<Void, any Error>

        init(_ url: String, _ catalogue: Catalogue, now: @escaping @Sendable () -> Timestamp) throws {
            let store = CurrentStore(
                StoreSettings(location: .postgreSQL(url: url)),
                store: try PostgreSQLStore(PostgreSQLSettings(url: url, writers: 2, readers: 1)),
                log: RecordedLog().logger)
            metrics = SyncMetrics(registry)
            let worker = EventWorker(
                store, policy: CurrentPolicy(Policy(ring: KeyRing(), catalogue: catalogue)),
                background: BackgroundReading(), now: now, metrics: metrics, log: RecordedLog().logger)
            self.store = store
            self.worker = worker
            task = Task {
                while !Task.isCancelled {
                    await worker.round()
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
        }

        /// The number of reviews that it has made.
        var reviews: Double {
            var text = ExpositionText()
            registry.write(.reviews, to: &text)
            return Scrape(text.bytes)[#"offer_signer_reviews_total{outcome="made"}"#] ?? 0
        }

        func end() async throws {
            task.cancel()
            _ = try? await task.value
            try store.store?.close()
        }
    }

    @Test("a rule about time is an event within a minute of its time, once, on one of three processes that come and go")
    func time() async throws {
        let receiver = "http://127.0.0.1:9/events"
        let catalogue = try Self.catalogue(
            receiver, "{offerID: back, rule: {subscription: {status: expired, endedAgo: {atLeast: 3d}}}}")
        let url = try TestPostgreSQL.shared.get().makeDatabase()
        let now = NIOLockedValueBox(Sample.day(12))
        let time: @Sendable () -> Timestamp = { now.withLockedValue { $0 } }
        func process() throws -> Finder { try Finder(url, catalogue, now: time) }
        var processes = try [process(), process(), process()]
        let store = try PostgreSQLStore(PostgreSQLSettings(url: url, writers: 1, readers: 1))
        try await store.beginReviews(of: Sample.production, by: "before", at: Sample.day(0))
        // Each subscription ended at some second of ten minutes.
        var random = SplitMix64(seed: 11)
        var due: [String: Timestamp] = [:]
        for number in 1...40 {
            let original = "\(1000 + number)"
            let end = 10 + Double.random(in: 0..<600, using: &random) / 86_400
            due[original] = Sample.day(end + 3)
            let purchase = Sample.transaction(original, of: original, -20, end) {
                $0.appAccountToken = Sample.token(UInt64(number))
            }
            let lapsed = Sample.renewal(of: original, signed: end + 0.01) { renewal in
                renewal = Renewal(productID: renewal.productID, autoRenewStatus: .off)
                renewal.expirationIntent = .cancelled
                renewal.appAccountToken = Sample.token(UInt64(number))
            }
            try await store.merge([purchase, lapsed], in: Sample.production)
        }
        for step in 0...22 {
            now.withLockedValue { $0 = Sample.day(step == 0 ? 12 : 13) + .seconds(30 * max(step - 1, 0)) }
            // The process that found the events before ends, and another one takes over.
            if step % 5 == 1 {
                let place = try #require(processes.indices.max { processes[$0].reviews < processes[$1].reviews })
                #expect(processes[place].reviews > 0)
                try await processes.remove(at: place).end()
                processes.append(try process())
            }
            try await waitUntil { try await store.dueReviews(of: Sample.production, by: time(), limit: 1).isEmpty }
        }
        var found: [String: [Timestamp]] = [:]
        while true {
            let forwards = try await store.claimForwards(
                to: receiver, dueAt: time(), leaseEnd: time() + .seconds(60), limit: 100)
            if forwards.isEmpty { break }
            for forward in forwards {
                let event = try #require(Self.event(forward.body))
                let json = try #require(
                    try JSONSerialization.jsonObject(with: Data(forward.body)) as? [String: Any])
                let at = Timestamp(milliseconds: try #require(json["at"] as? Int64))
                if event.type == "became_eligible" { found[event.customer, default: []].append(at) }
                try await store.settle(forward.id, .delivered)
            }
        }
        #expect(Set(found.keys) == Set(due.keys))
        for (customer, times) in found {
            let late = times.map { $0.milliseconds - (due[customer]?.milliseconds ?? 0) }
            #expect(late.count == 1 && late.allSatisfy { (0..<60_000).contains($0) }, "\(customer): \(late)")
        }
        // If no process makes the reviews, each one says since when they are due.
        for process in processes { process.task.cancel() }
        for process in processes { _ = try? await process.task.value }
        let last = processes[2]
        func overdue() async -> [Double] {
            await last.worker.readFigures()
            return last.metrics.samples(of: .oldestReview).map(\.value)
        }
        #expect(await overdue() == [])
        let renewed = Sample.transaction("9001", of: "1001", 13, 40) { $0.appAccountToken = Sample.token(1) }
        try await store.merge([renewed], in: Sample.production)
        #expect(await overdue() == [], "it may have just become due")
        let since = Double(time().milliseconds) / 1000
        now.withLockedValue { $0 = $0 + .seconds(3600) }
        #expect(await overdue() == [since])
        // A customer is looked at each day, at the latest.
        now.withLockedValue { $0 = Sample.day(16) }
        let planned = await overdue()
        #expect(planned == [since], "\(planned)")
        try await waitUntil {
            await last.worker.round()
            return try await store.dueReviews(of: Sample.production, by: time(), limit: 1).isEmpty
        }
        #expect(await overdue() == [])
        for process in processes { try process.store.store?.close() }
        try store.close()
    }
}
