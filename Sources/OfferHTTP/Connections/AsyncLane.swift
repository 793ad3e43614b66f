/// The lane for responses that are produced asynchronously.
///
/// Its work runs in child tasks of ``run()``, so nothing outlives the server.
package struct AsyncLane: Sendable {
    private let work: AsyncStream<@Sendable () async -> Void>
    private let submit: AsyncStream<@Sendable () async -> Void>.Continuation

    package init() {
        (work, submit) = AsyncStream.makeStream()
    }

    /// Schedules `work` to run concurrently with other work.
    /// - Returns: false if the lane no longer accepts work. In that case, `work` does not run.
    package func run(_ work: @escaping @Sendable () async -> Void) -> Bool {
        if case .terminated = submit.yield(work) { return false }
        return true
    }

    /// Runs submitted work until ``finish()`` is called, and returns once all of it has completed.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await work in work { group.addTask(operation: work) }
        }
    }

    /// Stops accepting work. ``run()`` returns once the remaining work has completed.
    package func finish() { submit.finish() }
}
