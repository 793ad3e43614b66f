package import OfferCore

/// What `serve` was told: flags win over the environment, which wins over the defaults. Read at start and again at every
/// SIGHUP.
package struct Configuration: Sendable {
    /// What the command line says; nil or false where it says nothing.
    package struct Flags: Sendable {
        package var host: String?
        package var port: Int?
        package var reusePort = false
        package var keyID: String?
        package var keysDirectory: String?
        package var allowReadableKeys = false
        package var development = false
        /// For commands that sign nothing.
        package var mayChooseNoKey = false

        package init() {}
    }

    /// Where to listen: a loopback address.
    package let host: String
    package let port: Int
    /// Whether another process may listen at the same port (`SO_REUSEPORT`), so that the next one starts beside this one.
    package let sharesPort: Bool
    /// The folder of `SubscriptionKey_<KEYID>.p8`.
    package let keysDirectory: String
    /// Whether it was named, and is not just where keys are by default.
    package let namesKeysDirectory: Bool
    /// Whether a key file may be readable by others than its owner.
    package let allowsReadableKeys: Bool
    /// Which keys sign for which app, and which never sign again.
    package let wanted: WantedKeys
    /// The text of the key for all apps, if it does not come from the folder.
    package let keyText: Secret?
    /// Whether to sign with a key in the folder that is made if it is not there; the App Store does not know it.
    package let isDevelopment: Bool

    /// - Parameter environment: the variables of the process, and over them those of the environment file.
    /// - Throws: every problem at once.
    package init(flags: Flags, environment: [String: String]) throws(ConfigurationError) {
        let (configuration, problems) = Self.read(flags: flags, environment: environment)
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        self = configuration
    }

    /// Reads as much as can be read, for a report on everything that is wrong.
    package static func read(
        flags: Flags, environment: [String: String]
    ) -> (configuration: Configuration, problems: [SetupProblem]) {
        var problems = ConfigurationProblems()
        let configuration = Configuration(flags: flags, environment: environment, problems: &problems)
        return (configuration, problems.found)
    }

    /// The environment file that is named by a flag or by a variable of the process.
    /// - Throws: if that cannot be a path.
    package static func environmentFile(
        flag: String?, environment: [String: String]
    ) throws(SetupProblem) -> String? {
        var problems = ConfigurationProblems()
        let path = problems.path(
            flag ?? environment[Variable.environmentFile.rawValue],
            setBy: "\(Variable.environmentFile.rawValue) or --env-file")
        if let problem = problems.found.first { throw problem }
        return path
    }

    private init(flags: Flags, environment: [String: String], problems: inout ConfigurationProblems) {
        // Set but empty is how container tools say unset.
        let environment = environment.filter { !$0.value.isEmpty }
        problems.checkNames(in: environment)
        host = flags.host ?? environment[Variable.host.rawValue] ?? "127.0.0.1"
        problems.checkLoopback(host)
        port = flags.port ?? problems.port(in: environment) ?? 8080
        problems.checkPort(port)
        sharesPort = flags.reusePort || problems.isOn(.reusePort, in: environment)
        let named = problems.path(
            flags.keysDirectory ?? environment[Variable.keysDirectory.rawValue],
            setBy: "\(Variable.keysDirectory.rawValue) or --keys-dir")
        keysDirectory = named ?? "keys"
        namesKeysDirectory = named != nil
        allowsReadableKeys = flags.allowReadableKeys || problems.isOn(.allowReadableKeys, in: environment)
        wanted = problems.wantedKeys(flags: flags, environment: environment)
        keyText = environment[Variable.privateKey.rawValue].map(Secret.init)
        isDevelopment = flags.development
    }

    /// The ID of the key that `--development` makes. No key of App Store Connect has it.
    package static let developmentKeyID = "DEVELOPKEY"
}
