/// Runs the asynchronous functions that make responses later.
///
/// They are child tasks of ``run()``: none outlives the server.
package struct AsyncLane: Sendable {
    private let work: AsyncStream<@Sendable () async -> Void>
    private let submit: AsyncStream<@Sendable () async -> Void>.Continuation

    package init() {
        (work, submit) = AsyncStream.makeStream()
    }

    /// Starts `work` soon, beside whatever else runs.
    func run(_ work: @escaping @Sendable () async -> Void) { submit.yield(work) }

    /// Runs all work until ``finish()``, and returns when the last of it has ended.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await work in work { group.addTask(operation: work) }
        }
    }

    /// Lets ``run()`` return.
    package func finish() { submit.finish() }
}
