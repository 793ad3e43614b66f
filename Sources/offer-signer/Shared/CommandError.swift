import OfferCore
import OfferService

/// An error that ends a command with exit status 1: `error:` says what is wrong, and `hint:` says what to do.
struct CommandError: Error {
    let text: String

    init(_ error: String, hint: String? = nil) {
        text = "error: \(error)\n" + (hint.map { "hint: \($0)\n" } ?? "")
    }

    init(_ problem: Diagnostic) {
        self.init(problem.error, hint: problem.hint)
    }

    init(_ error: ConfigurationError) {
        text = error.problems.map { CommandError($0).text }.joined()
    }

    /// A problem with the fields of an offer, with the same wording as in the service.
    init(_ problem: Problem) {
        // The detail may repeat input, which could contain terminal control sequences.
        self.init(problem.detail.printable)
    }
}
