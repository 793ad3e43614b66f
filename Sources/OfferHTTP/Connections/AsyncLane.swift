/// The lane for asynchronous functions that make responses later.
///
/// It runs them as child tasks of ``run()``, so none outlives the server.
package struct AsyncLane: Sendable {
    private let work: AsyncStream<@Sendable () async -> Void>
    private let submit: AsyncStream<@Sendable () async -> Void>.Continuation

    package init() {
        (work, submit) = AsyncStream.makeStream()
    }

    /// Starts `work` soon, concurrently with all other work.
    /// - Returns: false if the lane has ended; `work` then does not run.
    func run(_ work: @escaping @Sendable () async -> Void) -> Bool {
        if case .terminated = submit.yield(work) { return false }
        return true
    }

    /// Runs all work until ``finish()``, and returns once all of it has ended.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await work in work { group.addTask(operation: work) }
        }
    }

    /// Stops accepting work, so that ``run()`` returns.
    package func finish() { submit.finish() }
}
