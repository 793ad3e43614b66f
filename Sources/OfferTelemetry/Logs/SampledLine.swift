package import Logging
import NIOConcurrencyHelpers
package import NIOCore

/// The pace of a log line about events that strangers can cause as often as they like: one line a second, which says how
/// many events it stands for.
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
    /// - Returns: the metadata to add to the line about this event; nil if the event is left to a later line.
    package func note(_ kind: String) -> Logger.Metadata? {
        guard let counts = take(adding: kind) else { return nil }
        return counts.values.reduce(0, +) > 1 ? Self.metadata(counts) : [:]
    }

    /// Returns the content of a line about the events that have waited for a second; nil if there are none.
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
