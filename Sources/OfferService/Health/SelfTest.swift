package import OfferCore
import Synchronization

/// The record of whether the cryptography has passed every known-answer test.
///
/// One wrong answer is one too many: after it, nothing is signed until the process restarts.
package final class SelfTest: Sendable {
    private let answers: KnownAnswers
    private let hasFailed = Atomic(false)

    /// Runs the test for the first time.
    /// - Throws: the problem, before anything can be signed.
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
