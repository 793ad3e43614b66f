/// The lane for responses that are produced asynchronously.
///
/// Its work runs in child tasks of ``run()``, so nothing outlives the server.
package struct AsyncLane: Sendable {
    private struct Work: Sendable {
        let run: @Sendable () async -> Void
        let executor: (any TaskExecutor)?
    }

    private let work: AsyncStream<Work>
    private let submit: AsyncStream<Work>.Continuation

    package init() {
        (work, submit) = AsyncStream.makeStream()
    }

    /// Schedules `work` to run concurrently with other work.
    /// - Parameter executor: the threads that it runs on; nil for those of Swift's own pool.
    /// - Returns: false if the lane no longer accepts work. In that case, `work` does not run.
    package func run(on executor: (any TaskExecutor)? = nil, _ work: @escaping @Sendable () async -> Void) -> Bool {
        if case .terminated = submit.yield(Work(run: work, executor: executor)) { return false }
        return true
    }

    /// Runs submitted work until ``finish()`` is called, and returns once all work has completed.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await work in work { group.addTask(executorPreference: work.executor, operation: work.run) }
        }
    }

    /// Stops accepting work. ``run()`` returns once the remaining work has completed.
    package func finish() { submit.finish() }
}
