/// All problems found in a configuration and in the keys it names.
package struct ConfigurationError: Error, Hashable {
    /// Never empty.
    package let problems: [Diagnostic]

    package init(problems: [Diagnostic]) {
        self.problems = problems
    }
}
