import OfferCore
import OfferServer

/// What stops a command: `error:` says what, `hint:` what to do. Exit status 1.
struct CommandError: Error {
    let text: String

    init(_ error: String, hint: String? = nil) {
        text = "error: \(error)\n" + (hint.map { "hint: \($0)\n" } ?? "")
    }

    init(_ problem: SetupProblem) {
        self.init(problem.error, hint: problem.hint)
    }

    init(_ error: ConfigurationError) {
        text = error.problems.map { CommandError($0).text }.joined()
    }

    /// A problem with the fields of an offer, in the words the service has for it.
    init(_ problem: Problem) {
        // It may repeat what was in the input, and a terminal obeys some of that.
        self.init(problem.detail.printable)
    }
}
