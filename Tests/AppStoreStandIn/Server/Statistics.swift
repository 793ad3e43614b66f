import NIOConcurrencyHelpers

/// What the stand-in was asked, and how it answered.
package final class Statistics: Sendable {
    package struct Counts: Hashable, Sendable {
        /// By endpoint and HTTP status.
        package var answers: [String: [Int: Int]] = [:]
        /// The most requests about one transaction.
        package var perTransaction: [String: Int] = [:]
    }

    private let state = NIOLockedValueBox(Counts())

    package var counts: Counts { state.withLockedValue { $0 } }

    /// Requests that got a status, from all endpoints.
    package func answers(_ status: Int) -> Int { counts.answers.values.reduce(0) { $0 + ($1[status] ?? 0) } }

    /// Requests to an endpoint.
    package func requests(_ endpoint: String) -> Int { counts.answers[endpoint]?.values.reduce(0, +) ?? 0 }

    func note(_ endpoint: String, _ status: Int, transaction: String?) {
        state.withLockedValue { state in
            state.answers[endpoint, default: [:]][status, default: 0] += 1
            if let transaction { state.perTransaction[transaction, default: 0] += 1 }
        }
    }
}
