import OfferCore
import Synchronization

/// Whether the cryptography has given all of the known answers, at every time that it was asked.
///
/// One wrong answer is one too many: nothing is signed any more until the process starts anew.
package final class SelfTest: Sendable {
    private let answers: KnownAnswers
    private let hasFailed = Atomic(false)

    /// Asks for the first time.
    /// - Throws: what is wrong, before anything could be signed.
    package init(_ answers: KnownAnswers) throws(ConfigurationError) {
        self.answers = answers
        if let problem = answers.problem { throw ConfigurationError(problems: [problem]) }
    }

    package var holds: Bool { !hasFailed.load(ordering: .relaxed) }

    /// Asks again.
    func repeated() -> SetupProblem? {
        let problem = answers.problem
        if problem != nil { hasFailed.store(true, ordering: .relaxed) }
        return problem
    }
}
