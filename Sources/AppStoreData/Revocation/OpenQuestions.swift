/// The questions under way, each with those who wait for its outcome, and the answers so far.
struct OpenQuestions {
    typealias Waiter = CheckedContinuation<OCSPOutcome, Never>

    var memory = OCSPMemory(limit: Self.maximumCount)
    private var waiters: [RevocationQuestion.ID: [Waiter]] = [:]
    private var isStopped = false

    /// The maximum number of questions under way, and of remembered certificates. Apple uses about two at a time.
    static let maximumCount = 128

    enum Admission {
        /// The outcome is known without asking.
        case settled(OCSPOutcome)
        /// The question is new and must be asked now.
        case opened
        /// The question is under way.
        case joined
    }

    /// Opens a question unless its outcome is known or it is open already.
    /// - Parameter waiter: who waits for the outcome. Without one, a question that has just failed is not asked again.
    mutating func admit(_ id: RevocationQuestion.ID, _ waiter: Waiter?, at now: Int64) -> Admission {
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

    /// - Returns: those who wait for the outcome.
    mutating func close(_ id: RevocationQuestion.ID) -> [Waiter] { waiters.removeValue(forKey: id) ?? [] }

    /// Closes all questions and admits no others.
    /// - Returns: all who wait.
    mutating func stop() -> [Waiter] {
        isStopped = true
        defer { waiters = [:] }
        return waiters.values.flatMap { $0 }
    }
}
