/// Work that is repeated at an interval.
package enum Periodic {
    /// Does the work immediately and then after each interval, until the task is cancelled.
    package static func run(
        every interval: Duration, isolation: isolated (any Actor)? = #isolation, _ work: () async -> Void
    ) async {
        repeat { await work() } while (try? await Task.sleep(for: interval)) != nil
    }
}
