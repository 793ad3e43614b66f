/// Long reading that must not delay requests: lists, reports, reviews and trials of rules.
package enum BackgroundReading {
    /// True if a read stays on the thread of its task. Otherwise, the store reads on threads of its own, which have the priority
    /// of requests.
    @TaskLocal static var isOn = false

    /// Calls `body` so that it decides and reads on the threads of an executor.
    /// - Parameter executor: threads that may wait for the disk. Their priority is that of the whole work.
    package static func run<Result, Failure: Error>(
        on executor: any TaskExecutor, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await withTaskExecutorPreference(executor) {
            await $isOn.withValue(true) { await Swift.Result(body) }
        }.get()
    }
}

extension Result {
    fileprivate init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
