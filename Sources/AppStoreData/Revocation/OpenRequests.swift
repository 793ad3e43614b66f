/// The open queries, each with the callers that wait for its outcome, and the answers so far.
struct OpenRequests {
    typealias Waiter = CheckedContinuation<OCSPOutcome, Never>

    var memory = OCSPMemory(limit: Self.maximumCount)
    private var waiters: [RevocationRequest.ID: [Waiter]] = [:]
    private var isStopped = false

    /// The maximum number of open queries and of remembered certificates. Apple uses about two certificates at a time.
    static let maximumCount = 128

    enum Admission {
        /// The outcome is known without a query.
        case settled(OCSPOutcome)
        /// The query is new and must be sent now.
        case opened
        /// The query is already open.
        case joined
    }

    /// Opens a query unless its outcome is known or it is already open.
    /// - Parameter waiter: the caller that waits for the outcome. Without a caller, a query that failed recently is not
    ///   repeated.
    mutating func admit(_ id: RevocationRequest.ID, _ waiter: Waiter?, at now: Int64) -> Admission {
        if let answer = memory.answer(to: id, at: now) { return .settled(answer) }
        let new = waiter.map { [$0] } ?? []
        if waiters[id] != nil {
            waiters[id]? += new
            return .joined
        }
        guard !isStopped else { return .settled(.unknown(.stopped)) }
        guard waiters.count < Self.maximumCount else { return .settled(.unknown(.overloaded)) }
        if waiter == nil, let problem = memory.recentFailure(of: id, at: now) { return .settled(.unknown(problem)) }
        waiters[id] = new
        return .opened
    }

    /// - Returns: the callers that wait for the outcome.
    mutating func close(_ id: RevocationRequest.ID) -> [Waiter] { waiters.removeValue(forKey: id) ?? [] }

    /// Closes all queries and admits no new ones.
    /// - Returns: all waiting callers.
    mutating func stop() -> [Waiter] {
        isStopped = true
        defer { waiters = [:] }
        return waiters.values.flatMap { $0 }
    }
}
