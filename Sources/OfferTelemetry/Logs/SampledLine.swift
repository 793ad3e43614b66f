package import Logging
import NIOConcurrencyHelpers
package import NIOCore

/// A limit of one log line a second for events that strangers can cause at will. Each line contains the number of
/// events that it represents.
package final class SampledLine: Sendable {
    private struct State {
        var next = NIODeadline.uptimeNanoseconds(0)
        /// The events since the last line, by kind.
        var counts: [String: Int] = [:]
    }

    private static let interval: TimeAmount = .seconds(1)

    private let uptime: @Sendable () -> NIODeadline
    private let state = NIOLockedValueBox(State())

    package init(uptime: @escaping @Sendable () -> NIODeadline) {
        self.uptime = uptime
    }

    /// Counts an event.
    /// - Parameter kind: one of a few words, such as a problem code.
    /// - Returns: the metadata to add to the line about this event; nil if a later line will include the event.
    package func note(_ kind: String) -> Logger.Metadata? {
        guard let counts = take(adding: kind) else { return nil }
        return counts.values.reduce(0, +) > 1 ? Self.metadata(counts) : [:]
    }

    /// Returns the metadata of a line about the events since the last line; nil if there are none, or if that line is
    /// less than a second old.
    package func overdue() -> Logger.Metadata? { take(adding: nil).map(Self.metadata) }

    private func take(adding kind: String?) -> [String: Int]? {
        let now = uptime()
        return state.withLockedValue { state in
            if let kind { state.counts[kind, default: 0] += 1 }
            guard state.next <= now, !state.counts.isEmpty else { return nil }
            state.next = now + Self.interval
            defer { state.counts = [:] }
            return state.counts
        }
    }

    private static func metadata(_ counts: [String: Int]) -> Logger.Metadata {
        let kinds = counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return ["count": "\(counts.values.reduce(0, +))", "counts": "\(kinds.joined(separator: ", "))"]
    }
}
