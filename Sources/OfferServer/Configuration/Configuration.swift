package import OfferCore

/// What `serve` was told: flags win over the environment, which wins over the defaults. Read once, at start.
package struct Configuration: Sendable {
    /// What the command line says; nil where it says nothing.
    package struct Flags: Sendable {
        package var host: String?
        package var port: Int?
        package var keyID: String?
        package var keysDirectory: String?
        package var development = false

        package init() {}
    }

    /// Where the keys that sign come from.
    package enum KeySource: Sendable {
        /// `SubscriptionKey_<KEYID>.p8` in the folder of keys, for each key that is chosen; but the key for all apps
        /// from `text`, if that is there (`SUBSCRIPTION_OFFERS_PRIVATE_KEY`).
        case chosen(KeyChoice, text: Secret?)
        /// A key in the folder of keys that is made if it is not there; the App Store does not know it.
        case development
    }

    /// Where to listen: a loopback address.
    package let host: String
    package let port: Int
    package let keysDirectory: String
    package let keySource: KeySource

    /// - Throws: every problem at once.
    package init(flags: Flags, environment: [String: String]) throws(ConfigurationError) {
        // Set but empty is how container tools say unset.
        let environment = environment.filter { !$0.value.isEmpty }
        var problems = ConfigurationProblems()
        problems.checkNames(in: environment)

        let host = flags.host ?? environment[Variable.host.rawValue] ?? "127.0.0.1"
        problems.checkLoopback(host)
        let port = flags.port ?? problems.port(in: environment) ?? 8080
        problems.checkPort(port)
        let keySource = problems.keySource(flags: flags, environment: environment)

        guard let keySource, problems.found.isEmpty else { throw ConfigurationError(problems: problems.found) }
        self.host = host
        self.port = port
        self.keysDirectory = flags.keysDirectory ?? environment[Variable.keysDirectory.rawValue] ?? "keys"
        self.keySource = keySource
    }
}
