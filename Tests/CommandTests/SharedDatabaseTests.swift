import Foundation
import NIOConcurrencyHelpers
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// What processes that share PostgreSQL keep when everything around them fails.
@Suite("Processes that share a database", .serialized)
struct SharedDatabaseTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// `SHARED_MINUTES` asks for more, as `scripts/soak postgresql` does. A short run has two rounds.
    private static let minutes = environment["SHARED_MINUTES"].flatMap { Int($0) }
    /// `SHARED_PREVIOUS` names the program of an earlier release, to which the upgrade is made.
    private static let previous = environment["SHARED_PREVIOUS"] ?? Command.offerSigner

    private static let total = 2000
    /// How long a round may take to replace processes and to restart PostgreSQL, in seconds.
    private static let timeForReplacing = 15

    @Test("through restarts of PostgreSQL, kills and an upgrade under load, what was answered is stored, and caps hold")
    func survives() async throws {
        let (rounds, pause) = (Self.minutes ?? 2, Self.minutes == nil ? 4 : 30)
        let shared = try await SharedDatabase(
            customers: 3000, limits: "{perCustomer: 1, total: \(Self.total)}",
            seconds: rounds * (pause * 2 + Self.timeForReplacing) + 60, program: Self.previous)
        try await onOwnThread { for place in 0..<SharedDatabase.processes { try shared.start(place) } }
        let pauses = Pauses(shared)
        try await shared.load {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await pauses.watch() }
                for round in 0..<rounds {
                    try await Task.sleep(for: .seconds(pause))
                    if round == rounds / 2 {
                        let statuses = try await onOwnThread { try shared.upgrade(to: Command.offerSigner) }
                        #expect(statuses == [0, 0, 0], "an orderly end")
                    } else if round % 2 == 0 {
                        try await onOwnThread {
                            let place = round / 2 % SharedDatabase.processes
                            shared.take(place)?.killAtOnce()
                            try shared.start(place)
                        }
                    }
                    try await Task.sleep(for: .seconds(pause))
                    try await onOwnThread {
                        round % 2 == 0 ? try shared.server.stop() : try shared.server.crash()
                        try shared.server.start()
                    }
                    if Self.minutes != nil { print("round \(round + 1) of \(rounds): \(try pauses.summary())") }
                }
                // The receiver gets everything, also what a killed process had claimed.
                try await Task.sleep(for: .seconds(pause))
                group.cancelAll()
            }
        }
        let acknowledged = try shared.acknowledged()
        try await waitUntil { Set(try shared.received()).isSuperset(of: acknowledged) }
        #expect(try await shared.stop() == [0, 0, 0])

        try await verify(shared)
        let repeats = try pauses.repeats()
        print("\(try pauses.summary())")
        // A piece of work is done again only if what became of it could not be stored.
        #expect(repeats.questions <= rounds * 2 * 4)
        #expect(repeats.forwards <= rounds * 2 * 32)
        guard Self.minutes != nil else { return }
        #expect(pauses.longest.polling < .seconds(10), "\(pauses.longest)")
        #expect(pauses.longest.forwarding < .seconds(10), "\(pauses.longest)")
    }

    private func verify(_ shared: SharedDatabase) async throws {
        let seen = shared.seen
        #expect(seen.faults == [])
        #expect(seen.plainOffers > 0 && !seen.nonces.isEmpty)
        let authorisations = try await shared.decisions.authorisations()
        let reserved = Set(authorisations.map { "\($0.id)" })
        #expect(reserved.isSuperset(of: seen.nonces), "a signature was handed out that is not in the ledger")
        #expect(Set(seen.nonces).count == seen.nonces.count)
        let outstanding = authorisations.filter { $0.authorisation.state == .outstanding }
        #expect(outstanding.count <= Self.total)
        #expect(Set(outstanding.map(\.holders)).count == outstanding.count, "a customer has two")

        let acknowledged = try shared.acknowledged()
        #expect(!acknowledged.isEmpty)
        let (faults, stored) = try await shared.decisions.withStore { store in
            let stored = NIOLockedValueBox<[String]>([])
            try await store.forEachRecord { record throws(StoreError) in
                guard case .notification(let entry) = record else { return }
                stored.withLockedValue { $0.append("\(entry.notification.notificationUUID)") }
            }
            return (try await store.check(), stored.withLockedValue { $0 })
        }
        #expect(faults == [])
        #expect(Set(stored).isSuperset(of: acknowledged), "lost: \(Set(acknowledged).subtracting(stored).count)")
        #expect(Set(stored).count == stored.count, "stored twice")
        #expect(Set(try shared.received()).isSubset(of: stored))
    }
}

/// For how long no work was done that was there to do, as seen by the App Store and by the receiver.
private final class Pauses: Sendable {
    struct Longest: Sendable {
        var polling = Duration.zero
        var forwarding = Duration.zero
    }

    private let shared: SharedDatabase
    private let state = NIOLockedValueBox(Longest())

    init(_ shared: SharedDatabase) { self.shared = shared }

    var longest: Longest { state.withLockedValue { $0 } }

    /// Watches until the task is cancelled.
    func watch() async throws {
        var polled = (count: 0, at: ContinuousClock.now)
        var forwarded = polled
        while (try? await Task.sleep(for: .milliseconds(100))) != nil {
            let now = ContinuousClock.now
            let counts = (shared.questions().count, try shared.received().count)
            if counts.0 > polled.count { polled = (counts.0, now) }
            if counts.1 > forwarded.count { forwarded = (counts.1, now) }
            // The first of each waits for the processes to start. When the App Store was asked about everything, nothing is left to do.
            let isLeft = polled.count < shared.ending.count
            state.withLockedValue { [polled, forwarded] state in
                if polled.count > 0, isLeft { state.polling = max(state.polling, now - polled.at) }
                if forwarded.count > 0 { state.forwarding = max(state.forwarding, now - forwarded.at) }
            }
        }
    }

    /// How many questions and forwards were made more than once.
    func repeats() throws -> (questions: Int, forwards: Int) {
        let received = try shared.received()
        return (shared.questions().values.reduce(0) { $0 + $1 - 1 }, received.count - Set(received).count)
    }

    func summary() throws -> String {
        let (seen, repeats) = (shared.seen, try repeats())
        return """
            \(seen.decisions) decisions, \(seen.nonces.count) signatures, \(seen.plainOffers) other offers, \
            \(try shared.acknowledged().count) notifications, \(shared.questions().count) questions; \
            \(repeats.questions) questions and \(repeats.forwards) forwards again; \
            longest pause: polling \(longest.polling), forwarding \(longest.forwarding)
            """
    }
}
