/// The threads on which a key pair signs because its signatures take I/O. They must not be made on an event loop.
package protocol SigningThreads: AnyObject, Sendable {
    /// Runs `work` on one of the threads.
    /// - Parameter deadline: the time after which the result is useless. Work without one, such as a test of the key, is done
    ///   before all other work, and has a second.
    /// - Throws: the reason that no result came in time. The work may still run, and its result is discarded.
    func run<Result: Sendable>(
        until deadline: ContinuousClock.Instant?, _ work: @escaping @Sendable () -> Result
    ) async throws(SigningThreadsFault) -> Result

    /// The number of jobs that wait for a thread.
    var waitingCount: Int { get }

    /// True if every thread is in a job that is late.
    var areStuck: Bool { get }
}

/// The reason that ``SigningThreads`` returned no result.
package enum SigningThreadsFault: Error, Hashable {
    /// Too many jobs are waiting.
    case full
    /// No thread was free in time.
    case waitedTooLong
    /// The work began but did not end in time, or every thread is in such a call.
    case noAnswer
}

extension SigningThreadsFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .full: "too many signatures are waiting for the token"
        case .waitedTooLong: "the signature waited too long for the token"
        case .noAnswer: "the token does not answer in time"
        }
    }
}

extension SigningKeyPair {
    /// Runs `work`, which signs with this pair and belongs to no request: on the threads of the pair, or at once if it has none.
    package func whereItSigns<Success: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () -> Result<Success, Failure>
    ) async throws(SigningThreadsFault) -> Result<Success, Failure> {
        guard let threads else { return work() }
        return try await threads.run(until: nil, work)
    }
}
