/// All problems with a configuration and with the keys it names.
package struct ConfigurationError: Error, Hashable {
    /// At least one.
    package let problems: [Diagnostic]

    package init(problems: [Diagnostic]) {
        self.problems = problems
    }
}
