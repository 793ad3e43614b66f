package import OfferCore

/// The reason that a key set could not be obtained or used.
package struct KeySetFault: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The set is unavailable. Previously fetched keys remain valid.
        case unavailable
        /// The set was read, but none of its keys may be used. Previously fetched keys are no longer valid.
        case unusable
    }

    package let kind: Kind
    package let problem: Diagnostic

    package init(_ kind: Kind, _ problem: Diagnostic) {
        self.kind = kind
        self.problem = problem
    }
}

/// The text of a key set, as read from its location.
package struct KeySetText: Hashable, Sendable {
    package let bytes: [UInt8]
    /// Problems with the location, such as a file that others can write.
    package let problems: [Diagnostic]

    package init(_ bytes: [UInt8], problems: [Diagnostic] = []) {
        self.bytes = bytes
        self.problems = problems
    }
}
