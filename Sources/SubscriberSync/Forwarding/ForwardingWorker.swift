package import Logging
import NIOConcurrencyHelpers
import OfferConfiguration
package import OfferCore
package import OfferTelemetry
import ServiceLifecycle
import SubscriberStore

/// The service that forwards stored notifications to the team's own receivers: at least once, in order for each
/// subscription.
///
/// The outbox is in the store, so the intake never waits for a receiver. Each receiver has its own task while
/// notifications wait for it. A receiver that accepts nothing is paused, and then gets one notification at a time until
/// it works again. Notifications to a receiver that is no longer configured are still delivered.
package struct ForwardingWorker: Service {
    private struct State {
        var pauses: [String: ReceiverPause] = [:]
        var busy: Set<String> = []
        var isStopping = false
    }

    private let store: CurrentStore
    private let client: ForwardClient
    private let now: @Sendable () -> Timestamp
    private let readiness: Readiness
    private let metrics: SyncMetrics
    private let log: Logger
    private let warningOfDeadLetters: ThrottledWarning
    private let state = NIOLockedValueBox(State())

    /// The maximum number of notifications that are sent to a receiver at the same time, each of a different
    /// subscription.
    private static let groupSize = 32
    /// The duration of a claim, in milliseconds; longer than an attempt. When a claim ends, its unsettled notification
    /// is sent again.
    private static let lease: Int64 = 60_000
    /// The number of notifications given up at a time: small, so that no other notification waits long.
    private static let forwardsPerStep = 500
    private static let pollInterval = Duration.milliseconds(250)
    /// The delay, in milliseconds, above which a receiver is reported.
    private static let longestDelay: Int64 = 3_600_000

    package init(
        _ store: CurrentStore, client: ForwardClient, now: @escaping @Sendable () -> Timestamp, readiness: Readiness,
        metrics: SyncMetrics, log: Logger
    ) {
        self.store = store
        self.client = client
        self.now = now
        self.readiness = readiness
        self.metrics = metrics
        self.log = log
        warningOfDeadLetters = ThrottledWarning(
            "notification given up: its receiver has not accepted it for three days", log: log)
    }

    package func run() async throws {
        // Attempts under way can finish and be settled. Otherwise, their notifications would be sent again.
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                while !isStopping, !Task.isCancelled {
                    for receiver in await receiversToServe() {
                        group.addTask {
                            await self.serve(receiver)
                            _ = self.state.withLockedValue { $0.busy.remove(receiver) }
                        }
                    }
                    try? await Task.sleep(for: Self.pollInterval)
                }
            }
        } onGracefulShutdown: {
            state.withLockedValue { $0.isStopping = true }
        }
        await client.close()
    }

    private var isStopping: Bool { state.withLockedValue { $0.isStopping } }

    /// Returns the receivers with pending notifications that are neither busy nor paused, and marks them as busy.
    private func receiversToServe() async -> [String] {
        guard store.store != nil, let receivers = try? await store.receivers() else { return [] }
        metrics.update(\.receivers, receivers)
        readiness.report(problems(with: receivers), from: .notifications, level: .warning, to: log)
        return state.withLockedValue { state in
            let free = receivers.map(\.url).filter { url in
                !state.busy.contains(url) && !(state.pauses[url]?.isOn(at: .now) ?? false)
            }.filter { url in receivers.contains { $0.url == url && $0.pending > 0 } }
            state.busy.formUnion(free)
            return free
        }
    }

    private func problems(with receivers: [Receiver]) -> [Diagnostic] {
        let limit = now().milliseconds - Self.longestDelay
        return receivers.filter { $0.oldestPending.map { $0.milliseconds < limit } ?? false }.map { receiver in
            Diagnostic(
                "notifications have waited for the receiver \(ReceiverName.of(receiver.url)) for more than an hour",
                hint: "find out why it does not accept them; they are sent again for up to three days")
        }
    }

    /// Sends the due notifications of a receiver, group by group, until none is due or the receiver needs a pause.
    private func serve(_ receiver: String) async {
        while !isStopping {
            let size = state.withLockedValue { $0.pauses[receiver]?.groupSize(of: Self.groupSize) ?? Self.groupSize }
            let now = now()
            let forwards = try? await store.claimForwards(
                to: receiver, dueAt: now, leaseEnd: Timestamp(milliseconds: now.milliseconds + Self.lease),
                limit: size)
            guard let forwards, !forwards.isEmpty else { return }
            let failures = await withTaskGroup(of: ForwardFailure?.self) { group in
                for forward in forwards { group.addTask { await self.send(forward) } }
                var failures: [ForwardFailure] = []
                for await failure in group { if let failure { failures.append(failure) } }
                return failures
            }
            note(failures, of: forwards.count, receiver)
            guard state.withLockedValue({ $0.pauses[receiver]?.isFailing != true }) else {
                return await giveUp(receiver)
            }
        }
    }

    /// Gives up notifications that have waited for three days for a receiver that accepts nothing. Such a receiver is tried so rarely that most of its notifications would never reach their last attempt.
    private func giveUp(_ receiver: String) async {
        let now = now()
        var total = 0
        while !isStopping {
            let count = try? await store.giveUpForwards(
                to: receiver, receivedBefore: ForwardSchedule.lastReception(at: now), at: now,
                limit: Self.forwardsPerStep)
            total += count ?? 0
            guard count == Self.forwardsPerStep else { break }
        }
        guard total > 0 else { return }
        let name = ReceiverName.of(receiver)
        metrics.forwarded(to: name, .dead(at: now), at: now, count: total)
        warningOfDeadLetters.warn([
            "receiver": "\(name)", "count": "\(total)", "hint": "offer-signer database dead-letters lists all of them",
        ])
    }

    /// - Returns: nil if the receiver accepted the notification.
    private func send(_ forward: Forward) async -> ForwardFailure? {
        do {
            try await client.send(forward, at: now())
        } catch {
            let outcome = ForwardSchedule.outcome(
                afterFailures: forward.failures, receivedAt: forward.since,
                share: .random(in: 0...1), at: now())
            await settle(forward, outcome)
            return error
        }
        await settle(forward, .delivered)
        return nil
    }

    /// Stores the outcome of an attempt. If this fails, the notification is sent again after the lease, and the outcome
    /// of that attempt counts.
    private func settle(_ forward: Forward, _ outcome: ForwardOutcome) async {
        do {
            try await store.settle(forward.id, outcome)
        } catch { return }
        let name = ReceiverName.of(forward.receiver)
        metrics.forwarded(to: name, outcome, at: now())
        guard case .dead = outcome else { return }
        warningOfDeadLetters.warn([
            "receiver": "\(name)", "id": "\(forward.contentID)",
            "hint": "offer-signer database dead-letters lists all of them",
        ])
    }

    /// Notes the outcome of a group. A receiver is paused if every attempt failed because of the receiver.
    private func note(_ failures: [ForwardFailure], of count: Int, _ receiver: String) {
        let isDown = failures.count == count && failures.allSatisfy(\.isOfReceiver)
        let wasFailing = state.withLockedValue { state in
            let before = state.pauses[receiver]?.isFailing ?? false
            if isDown {
                state.pauses[receiver, default: ReceiverPause()].noteFailure(at: .now)
            } else {
                state.pauses[receiver] = nil
            }
            return before
        }
        let name = ReceiverName.of(receiver)
        if isDown, !wasFailing, let failure = failures.first {
            log.warning("a receiver of notifications fails", metadata: ["receiver": "\(name)", "reason": "\(failure)"])
        } else if !isDown, wasFailing {
            log.notice("a receiver of notifications works again", metadata: ["receiver": "\(name)"])
        }
    }
}
