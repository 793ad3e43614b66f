import Logging
import NIOConcurrencyHelpers
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferService
import ServiceLifecycle
import SubscriberStore
import SubscriberSync

/// The trials of rules of this process: a few results, and the trials that wait for their turn.
///
/// One trial runs at a time. It decides on threads that run only when no event loop needs their core, and reads the next
/// customers only after deciding about the last ones. So it slows down while the service is busy.
final class RulesTrials: Service {
    private struct State {
        /// The oldest first.
        var trials: [RulesTrial] = []
        var isStopping = false

        mutating func change(_ id: String, _ body: (inout RulesTrial) -> Void) {
            guard let place = trials.firstIndex(where: { $0.id == id }) else { return }
            body(&trials[place])
        }

        mutating func dropOld(at now: Timestamp) {
            trials.removeAll { trial in
                if case .ended(_, let end) = trial.state { end + RulesTrials.lifetime < now } else { false }
            }
        }
    }

    static let maximumTrials = 10
    /// The time for which a result is kept.
    static let lifetime = Duration.seconds(3600)
    /// Reading more at a time would keep SQLite from moving its log for longer.
    private static let pageSize: Int64 = 100

    private let store: CurrentStore
    private let policy: CurrentPolicy
    private let now: @Sendable () -> Timestamp
    private let log: Logger
    private let state = NIOLockedValueBox(State())
    private let (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(
        store: CurrentStore, policy: CurrentPolicy, now: @escaping @Sendable () -> Timestamp, log: Logger
    ) {
        self.store = store
        self.policy = policy
        self.now = now
        self.log = log
    }

    /// Returns the first size of each sample; nil while the database cannot be read.
    func sampleSizes() async -> [SampleSize]? {
        do throws(StoreError) { return try await store.sampleSizes() } catch { return nil }
    }

    /// Adds a trial, which runs when it is its turn. The oldest result makes room for it.
    /// - Returns: nil if too many trials have not ended yet.
    func start(_ new: Catalogue, by person: String) -> RulesTrial? {
        let trial = RulesTrial(
            id: Hexadecimal.text(of: UInt64.random(in: 0 ... .max)), person: person, startedAt: now(),
            digest: new.digest, state: .waiting(new: new))
        let isAdded = state.withLockedValue { state in
            state.dropOld(at: trial.startedAt)
            if state.trials.count == Self.maximumTrials {
                guard let place = state.trials.firstIndex(where: \.isEnded) else { return false }
                state.trials.remove(at: place)
            }
            state.trials.append(trial)
            return true
        }
        guard isAdded else { return nil }
        wakeUp.yield()
        return trial
    }

    /// All trials, the latest first.
    var all: [RulesTrial] {
        let time = now()
        return state.withLockedValue { state in
            state.dropOld(at: time)
            return state.trials.reversed()
        }
    }

    /// Returns a trial; nil if the ID is unknown or the trial was discarded.
    subscript(id: String) -> RulesTrial? { all.first { $0.id == id } }

    /// Cancels a trial. One that has ended keeps its result.
    func cancel(_ id: String) {
        let time = now()
        state.withLockedValue { state in
            state.change(id) { if !$0.isEnded { $0.state = .ended(.cancelled, at: time) } }
        }
    }

    // MARK: Running

    func run() async throws {
        await withGracefulShutdownHandler {
            for await _ in wakeUps {
                while let (id, new) = next() { await run(id, new) }
            }
        } onGracefulShutdown: {
            self.state.withLockedValue { $0.isStopping = true }
            self.wakeUp.finish()
        }
    }

    /// Takes the oldest waiting trial.
    private func next() -> (id: String, new: Catalogue)? {
        state.withLockedValue { state in
            guard !state.isStopping else { return nil }
            for place in state.trials.indices {
                guard case .waiting(let new) = state.trials[place].state else { continue }
                state.trials[place].state = .running(share: 0)
                return (state.trials[place].id, new)
            }
            return nil
        }
    }

    private func run(_ id: String, _ new: Catalogue) async {
        let runner = RulesDryRunner(
            inForce: policy.snapshot.catalogue ?? Catalogue(apps: [:]), new: new, at: now(), sampleSize: 0, workers: 1,
            pageSize: Self.pageSize)
        let outcome: RulesTrialView.State
        do {
            let dryRun = try await BackgroundThreads.shared.reading.run {
                try await runner.run(over: store, isCancelled: { !self.isRunning(id) }) { share in
                    self.state.withLockedValue { state in
                        state.change(id) { if !$0.isEnded { $0.state = .running(share: share) } }
                    }
                }
            }
            outcome = .finished(RulesTrialView.Result(dryRun))
        } catch {
            log.warning("a trial of rules failed", metadata: ["trial": "\(id)", "reason": "\(error)"])
            outcome = .failed
        }
        let time = now()
        state.withLockedValue { state in
            // A run that the service has stopped is not complete.
            let outcome = state.isStopping ? .cancelled : outcome
            state.change(id) { if !$0.isEnded { $0.state = .ended(outcome, at: time) } }
        }
    }

    /// False once the trial was cancelled, or the service stops.
    private func isRunning(_ id: String) -> Bool {
        state.withLockedValue { state in
            guard !state.isStopping, let trial = state.trials.first(where: { $0.id == id }) else { return false }
            return !trial.isEnded
        }
    }
}
