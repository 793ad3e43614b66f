/// Long reading that must delay requests as little as possible: lists, reports, reviews and trials of rules.
package struct BackgroundReading: Sendable {
    /// The threads on which the task reads; nil for those that read for requests.
    ///
    /// Child tasks inherit them, and so would a `Task` that is not awaited.
    @TaskLocal static var threads: (any TaskExecutor)?

    private let executor: any TaskExecutor
    private let readers: (any TaskExecutor)?

    /// - Parameters:
    ///   - executor: the threads that decide. They hold no lock of the database, so they may wait long for a core.
    ///   - readers: the threads that read; nil for those that read for requests. Requests may wait for a lock that they hold
    ///     for a moment, so they must not wait long for a core.
    package init(executor: any TaskExecutor = globalConcurrentExecutor, readers: (any TaskExecutor)? = nil) {
        self.executor = executor
        self.readers = readers
    }

    /// Calls `body` on the threads that decide. Its reads are made on those that read.
    package func run<Result, Failure: Error>(
        _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await withTaskExecutorPreference(executor) {
            await Self.$threads.withValue(readers) { await Swift.Result(body) }
        }.get()
    }
}

extension Result {
    fileprivate init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
