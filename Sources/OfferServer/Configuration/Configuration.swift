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
        // Set but empty is how container tools say unset.
        let environment = environment.filter { !$0.value.isEmpty }
        var problems = ConfigurationProblems()
        problems.checkNames(in: environment)

        let host = flags.host ?? environment[Variable.host.rawValue] ?? "127.0.0.1"
        problems.checkLoopback(host)
        let port = flags.port ?? problems.port(in: environment) ?? 8080
        problems.checkPort(port)
        let sharesPort = flags.reusePort || problems.isOn(.reusePort, in: environment)
        let allowsReadableKeys = flags.allowReadableKeys || problems.isOn(.allowReadableKeys, in: environment)
        let wanted = problems.wantedKeys(flags: flags, environment: environment)

        guard let wanted, problems.found.isEmpty else { throw ConfigurationError(problems: problems.found) }
        self.host = host
        self.port = port
        self.sharesPort = sharesPort
        self.keysDirectory = flags.keysDirectory ?? environment[Variable.keysDirectory.rawValue] ?? "keys"
        self.allowsReadableKeys = allowsReadableKeys
        self.wanted = wanted
        self.keyText = environment[Variable.privateKey.rawValue].map(Secret.init)
        self.isDevelopment = flags.development
    }

    /// What may be meant, but is more likely a slip.
    package var suspicions: [SetupProblem] {
        let apps = wanted.choice.ofApps.keys.map(\.text.description).sorted()
        return apps.indices.flatMap { index in
            apps[(index + 1)...].filter { NearMiss.differInCaseAlone($0, apps[index]) }.map { other in
                SetupProblem(
                    "\(Variable.bundleKeyIDs.rawValue) names \(apps[index]) and \(other), which differ in letter case alone",
                    hint: "keep the one that Xcode shows: letter case counts in a signature")
            }
        }
    }

    /// The ID of the key that `--development` makes. No key of App Store Connect has it.
    package static let developmentKeyID = "DEVELOPKEY"
}
