import OfferCore

/// A costly result that all persons share. It is computed once at a time, and kept for a while.
actor Remembered<Value: Sendable> {
    private let time: Duration
    private var known: (value: Value, at: Timestamp)?
    private var running: Task<Value, any Error>?

    /// - Parameter time: the time for which a result is kept.
    init(for time: Duration) {
        self.time = time
    }

    func value(at now: Timestamp, _ compute: @escaping @Sendable () async throws -> Value) async throws -> Value {
        if let known, now < known.at + time, now >= known.at { return known.value }
        if let running { return try await running.value }
        let task = Task { try await compute() }
        running = task
        defer { running = nil }
        let value = try await task.value
        known = (value, now)
        return value
    }
}
