import OfferServer

/// What stops a command: `error:` says what, `hint:` what to do. Exit status 1.
struct CommandError: Error {
    let text: String

    init(_ error: String, hint: String? = nil) {
        text = "error: \(error)\n" + (hint.map { "hint: \($0)\n" } ?? "")
    }

    /// Several at once.
    init(_ errors: [CommandError]) {
        text = errors.map(\.text).joined()
    }

    init(_ error: ConfigurationError) {
        text = error.problems.map { "error: \($0.error)\nhint: \($0.hint)\n" }.joined()
    }

    /// A problem with the fields of an offer, in the words the service has for it.
    init(_ problem: Problem) {
        self.init(problem.detail)
    }
}
