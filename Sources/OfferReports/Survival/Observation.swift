/// How long something lasted, as far as it is known.
package struct Observation<Time: Comparable & Sendable, Cause: Hashable & Sendable>: Sendable {
    package let time: Time
    /// Why it ended at `time`; nil if it had not ended by then and nothing later is known.
    package let cause: Cause?

    package init(_ time: Time, _ cause: Cause?) {
        self.time = time
        self.cause = cause
    }
}

/// The observations that end at one time.
struct Instant<Time: Comparable & Sendable, Cause: Hashable & Sendable> {
    let time: Time
    /// The number of those that last at least until this time.
    let atRisk: Int
    /// The number of those that end, by cause. Those that are censored at the same time were still at risk.
    let ended: [Cause: Int]

    /// - Returns: one for each time with an end, in ascending order.
    static func all(_ observations: [Observation<Time, Cause>]) -> [Instant] {
        let sorted = observations.sorted { $0.time < $1.time }
        var instants: [Instant] = []
        var start = 0
        while start < sorted.count {
            var (end, ended): (Int, [Cause: Int]) = (start, [:])
            while end < sorted.count, sorted[end].time == sorted[start].time {
                if let cause = sorted[end].cause { ended[cause, default: 0] += 1 }
                end += 1
            }
            if !ended.isEmpty {
                instants.append(Instant(time: sorted[start].time, atRisk: sorted.count - start, ended: ended))
            }
            start = end
        }
        return instants
    }
}
