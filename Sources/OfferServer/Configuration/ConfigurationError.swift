package import OfferCore

/// Everything that is wrong with a configuration, or with the keys that it wants.
package struct ConfigurationError: Error, Hashable {
    /// At least one.
    package let problems: [SetupProblem]

    package init(problems: [SetupProblem]) {
        self.problems = problems
    }
}
