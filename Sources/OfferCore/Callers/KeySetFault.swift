/// Why there is no set of keys.
package struct KeySetFault: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// It could not be had, which says nothing of the keys that were had before.
        case notHad
        /// It was read, and no key of it may be used: those that were had before are good no more.
        case bad
    }

    package let kind: Kind
    package let problem: SetupProblem
    /// What a library said of it; for whoever asks the log for everything.
    package let detail: String?

    package init(_ kind: Kind, _ problem: SetupProblem, detail: String? = nil) {
        self.kind = kind
        self.problem = problem
        self.detail = detail
    }
}

/// The text of a key set as it was at a moment.
package struct KeySetText: Hashable, Sendable {
    package let bytes: [UInt8]
    /// What is wrong with where it is.
    package let problems: [SetupProblem]

    package init(_ bytes: [UInt8], problems: [SetupProblem] = []) {
        self.bytes = bytes
        self.problems = problems
    }
}
