package import OfferCore
import Synchronization

/// A record of the results of the known-answer tests.
///
/// After a single wrong answer, nothing is signed until the process restarts. If the latest test ended in an error, the
/// service is not ready. It still signs if it can, because each signature is verified before it is sent.
package final class SelfTest: Sendable {
    private let answers: KnownAnswers
    private let hasFailed = Atomic(false)
    private let isUntested = Atomic(false)

    /// Runs the test for the first time.
    /// - Throws: the problem, if any answer is wrong or the test ended in an error.
    package init(_ answers: KnownAnswers) throws(ConfigurationError) {
        self.answers = answers
        if let problem = answers.run().problem { throw ConfigurationError(problems: [problem]) }
    }

    /// True if every answer so far was right.
    package var holds: Bool { !hasFailed.load(ordering: .relaxed) }

    /// True if every answer so far was right, and the latest test did not end in an error.
    package var isPassed: Bool { holds && !isUntested.load(ordering: .relaxed) }

    /// Runs the test again, and returns the problem that it found.
    func repeated() -> Diagnostic? {
        let outcome = answers.run()
        switch outcome {
        case .passed: isUntested.store(false, ordering: .relaxed)
        case .untested: isUntested.store(true, ordering: .relaxed)
        case .wrong: hasFailed.store(true, ordering: .relaxed)
        }
        return outcome.problem
    }
}
