import NIOConcurrencyHelpers
import OfferCore
import SubscriberStore

/// The keyed requests of a process without a database, or whose database does not work. Nothing is reserved for them, so
/// a forgotten answer costs only another signature.
final class AnswersInMemory: Sendable {
    private struct Entry {
        let claim: IdempotentRequest.Claim
        let at: Timestamp
        var answer: IdempotentRequest.Answer?
    }

    private struct State {
        var entries: [[UInt8]: Entry] = [:]
        /// The claims in the order of their times. Released claims are included.
        var order: [IdempotentRequest.Claim] = []
        /// The total size of the answers, in bytes.
        var size = 0
    }

    private let state = NIOLockedValueBox(State())
    /// The maximum total size of the answers, in bytes. Beyond that, the oldest are forgotten.
    private let maximumSize: Int
    private let maximumCount: Int

    init(maximumCount: Int = 50_000, maximumSize: Int = 64 << 20) {
        self.maximumCount = maximumCount
        self.maximumSize = maximumSize
    }

    func claim(_ claim: IdempotentRequest.Claim, at now: Timestamp) -> IdempotentRequest.ClaimResult {
        state.withLockedValue { state in
            forgetOldest(in: &state) { $1.at <= now - IdempotentRequest.time }
            guard let known = state.entries[claim.request.id] else {
                forgetOldest(in: &state) { state, _ in
                    state.size > maximumSize || state.entries.count >= maximumCount
                }
                state.entries[claim.request.id] = Entry(claim: claim, at: now)
                state.order.append(claim)
                return .granted
            }
            guard known.claim.request.digest == claim.request.digest else { return .keyReused }
            return known.answer.map { .answered($0) } ?? .inProgress
        }
    }

    func keep(_ answer: IdempotentRequest.Answer, of claim: IdempotentRequest.Claim) {
        state.withLockedValue { state in
            guard state.entries[claim.request.id]?.claim == claim else { return }
            state.entries[claim.request.id]?.answer = answer
            state.size += answer.body.count
        }
    }

    func release(_ claim: IdempotentRequest.Claim) {
        state.withLockedValue { state in
            remove(claim, &state)
            if state.order.last == claim { state.order.removeLast() }
            guard state.order.count > 2 * maximumCount else { return }
            state.order.removeAll { state.entries[$0.request.id]?.claim != $0 }
        }
    }

    /// Forgets the oldest entries as long as a condition holds.
    private func forgetOldest(in state: inout State, while condition: (State, Entry) -> Bool) {
        var count = 0
        for claim in state.order {
            if let entry = state.entries[claim.request.id], entry.claim == claim {
                guard condition(state, entry) else { break }
                remove(claim, &state)
            }
            count += 1
        }
        state.order.removeFirst(count)
    }

    private func remove(_ claim: IdempotentRequest.Claim, _ state: inout State) {
        guard let entry = state.entries[claim.request.id], entry.claim == claim else { return }
        state.entries[claim.request.id] = nil
        state.size -= entry.answer?.body.count ?? 0
    }
}
