import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import OfferCore
import OfferEligibility
import SubscriberStore

/// The answers of the last ten minutes and the answers in progress, so that a repeated request gets the same answer.
///
/// An answer is made once, even if the request is repeated in the meantime. The answer is used if it is ready before
/// the deadline of the first request. Otherwise, the first request and its repetitions get the fallback.
final class RetentionAnswers: Sendable {
    struct Key: Hashable, Sendable {
        let app: AppScope
        let requestIdentifier: UUIDText
    }

    /// The right to settle the answer to one request.
    struct Claim: Sendable {
        /// Returns true if an answer can still be given.
        let isOpen: @Sendable () -> Bool
        /// Gives an answer, unless an answer was given before.
        /// - Returns: true if it was given.
        let settle: @Sendable (RetentionAnswer) -> Bool
    }

    private enum Entry {
        case open([CheckedContinuation<RetentionAnswer, Never>])
        case settled(RetentionAnswer)
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// The settled entries, oldest first.
        var settled: [(key: Key, at: NIODeadline)] = []
        /// The number of entries in ``settled`` that are forgotten.
        var forgotten = 0

        mutating func forget(settledBefore time: NIODeadline, keeping maximum: Int) {
            while forgotten < settled.count, settled[forgotten].at < time || settled.count - forgotten > maximum {
                entries[settled[forgotten].key] = nil
                forgotten += 1
            }
            // Entries are removed rarely, because removal moves the remaining entries.
            guard forgotten > 1000, forgotten * 2 > settled.count else { return }
            settled.removeFirst(forgotten)
            forgotten = 0
        }
    }

    private let state = NIOLockedValueBox(State())
    private let uptime: @Sendable () -> NIODeadline

    /// The maximum number of remembered answers: 100 requests a second for ten minutes. Beyond that, the oldest answers
    /// are forgotten, but the store still remembers offers.
    private static let maximumRemembered = 60_000
    private static let time = TimeAmount(RememberedRetentionOffer.time)

    init(uptime: @escaping @Sendable () -> NIODeadline) {
        self.uptime = uptime
    }

    /// - Parameters:
    ///   - deadline: the time on the system's monotonic clock after which `fallback` is the answer.
    ///   - make: starts the work. It is called only for the first of several identical requests.
    /// - Returns: the answer, and whether the request is a repetition.
    func answer(
        _ key: Key, by deadline: NIODeadline, otherwise fallback: @escaping @Sendable () -> RetentionAnswer,
        _ make: @escaping @Sendable (Claim) -> Void
    ) async -> (answer: RetentionAnswer, isRepeated: Bool) {
        var isFirst = false
        let answer = await withCheckedContinuation { continuation in
            switch join(key, continuation) {
            case .settled(let answer)?: continuation.resume(returning: answer)
            case .open?: break
            case nil:
                isFirst = true
                let claim = Claim(isOpen: { self.isOpen(key) }, settle: { self.settle(key, $0) })
                MultiThreadedEventLoopGroup.singleton.any().scheduleTask(deadline: deadline) {
                    if claim.isOpen() { _ = claim.settle(fallback()) }
                }
                make(claim)
            }
        }
        return (answer, !isFirst)
    }

    /// - Returns: the previous entry; nil if there was none, so the answer must be made.
    private func join(_ key: Key, _ continuation: CheckedContinuation<RetentionAnswer, Never>) -> Entry? {
        let now = uptime()
        return state.withLockedValue { state in
            state.forget(settledBefore: now - Self.time, keeping: Self.maximumRemembered)
            let known = state.entries[key]
            switch known {
            case .settled: break
            case .open(let waiting): state.entries[key] = .open(waiting + [continuation])
            case nil: state.entries[key] = .open([continuation])
            }
            return known
        }
    }

    private func isOpen(_ key: Key) -> Bool {
        state.withLockedValue { if case .open = $0.entries[key] { true } else { false } }
    }

    private func settle(_ key: Key, _ answer: RetentionAnswer) -> Bool {
        let now = uptime()
        let waiting = state.withLockedValue { state -> [CheckedContinuation<RetentionAnswer, Never>]? in
            guard case .open(let waiting) = state.entries[key] else { return nil }
            if answer.content == .unavailable {
                // A repeated request may get a better answer.
                state.entries[key] = nil
            } else {
                state.entries[key] = .settled(answer)
                state.settled.append((key, now))
            }
            return waiting
        }
        for continuation in waiting ?? [] { continuation.resume(returning: answer) }
        return waiting != nil
    }
}
