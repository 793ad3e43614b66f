import OfferCore
import OfferService

/// An error that ends a command with exit status 1: `error:` says what is wrong, and `hint:` says what to do.
struct CommandError: Error {
    let text: String
    /// The exit status of the service: 1, or 78 (EX_CONFIG of sysexits.h) if it must not be started again before a person has
    /// looked, which the systemd unit heeds.
    private(set) var status: Int32 = 1

    init(_ error: String, hint: String? = nil) {
        text = "error: \(error)\n" + (hint.map { "hint: \($0)\n" } ?? "")
    }

    init(_ problem: Diagnostic) {
        self.init(problem.error, hint: problem.hint)
        if problem.forbidsRestart { status = 78 }
    }

    init(_ error: ConfigurationError) {
        let errors = error.problems.map { CommandError($0) }
        text = errors.map(\.text).joined()
        status = errors.map(\.status).max() ?? 1
    }

    /// A problem with the fields of an offer, with the same wording as in the service.
    init(_ problem: Problem) {
        // The detail may repeat input, which could contain terminal control sequences.
        self.init(problem.detail.printable)
    }
}
