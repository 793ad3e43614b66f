package import OfferCore
import Synchronization

/// A record of whether the cryptography has passed every known-answer test.
///
/// After a single wrong answer, nothing is signed until the process restarts.
package final class SelfTest: Sendable {
    private let answers: KnownAnswers
    private let hasFailed = Atomic(false)

    /// Runs the test for the first time.
    /// - Throws: the problem, if any answer is wrong.
    package init(_ answers: KnownAnswers) throws(ConfigurationError) {
        self.answers = answers
        if let problem = answers.problem { throw ConfigurationError(problems: [problem]) }
    }

    package var holds: Bool { !hasFailed.load(ordering: .relaxed) }

    /// Runs the test again.
    func repeated() -> Diagnostic? {
        let problem = answers.problem
        if problem != nil { hasFailed.store(true, ordering: .relaxed) }
        return problem
    }
}
