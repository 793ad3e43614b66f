/// Everything that is wrong with a configuration.
package struct ConfigurationError: Error, Hashable {
    package struct Problem: Hashable, Sendable {
        /// What is wrong.
        package let error: String
        /// What to do.
        package let hint: String
    }

    /// At least one.
    package let problems: [Problem]
}
