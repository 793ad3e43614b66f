package import Logging
package import OfferCore

/// What `serve` was told: flags win over the environment, which wins over the defaults. Read at start and again at every
/// SIGHUP.
package struct Configuration: Sendable {
    /// What the command line says; nil or false where it says nothing.
    package struct Flags: Sendable {
        package var host: String?
        package var port: Int?
        package var metricsAddress: String?
        package var reusePort = false
        package var tlsCertificate: String?
        package var tlsKey: String?
        package var behindProxy = false
        package var trustedProxies: String?
        package var allowAnyone = false
        package var auditLog: String?
        package var logLevel: Logger.Level?
        package var logFormat: LogFormat?
        package var keyID: String?
        package var issuerID: String?
        package var keysDirectory: String?
        package var allowReadableKeys = false
        package var development = false
        /// For commands that sign nothing.
        package var mayChooseNoKey = false

        package init() {}
    }

    /// Where to listen: an address or a name.
    package let host: String
    package let port: Int
    /// Where the metrics are, and nothing else is; nil where they are beside the rest.
    package let metricsAddress: ListeningAddress?
    /// Whether another process may listen at the same port (`SO_REUSEPORT`), so that the next one starts beside this one.
    package let sharesPort: Bool
    /// For TLS; nil where plain HTTP is spoken.
    package let certificate: ServerCertificate?
    /// Whether a proxy in front speaks TLS, and nobody gets past it.
    package let isBehindProxy: Bool
    package let proxies: TrustedProxies
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
    /// Which issuer stands in the JWS of which app.
    package let issuerIDs: IssuerIDs
    /// nil where any offer of an app that has a key is signed.
    package let catalogue: Catalogue?
    package let callers: Callers
    package let limits: Limits
    /// nil where no trail is kept.
    package let audit: AuditSettings?
    /// The level from which on events are logged.
    package let logLevel: Logger.Level
    package let logFormat: LogFormat
    /// Whether to sign with a key in the folder that is made if it is not there; the App Store does not know it.
    package let isDevelopment: Bool

    /// Reads as much as can be read, and tells everything that is wrong.
    /// - Parameters:
    ///   - environment: the variables of the process, and over them those of the environment file.
    ///   - file: what the configuration file says.
    ///   - certificate: what the files for TLS hold.
    ///   - sha256: SHA-256 of a caller's token.
    package static func read(
        flags: Flags, environment: [String: String], file: ConfigurationFile = ConfigurationFile(),
        certificate: ServerCertificate? = nil, sha256: ([UInt8]) throws -> [UInt8] = { _ in [] }
    ) -> (configuration: Configuration, problems: [SetupProblem]) {
        var problems = ConfigurationProblems()
        let configuration = Configuration(
            flags: flags, environment: environment, file: file, certificate: certificate, sha256: sha256,
            problems: &problems)
        return (configuration, problems.found)
    }

    /// The path of a file that is named by a flag or by a variable.
    /// - Throws: if that cannot be a path.
    package static func path(
        flag: String?, variable: Variable, flagName: String, in environment: [String: String]
    ) throws(SetupProblem) -> String? {
        var problems = ConfigurationProblems()
        let path = problems.path(
            flag ?? environment[variable.rawValue], setBy: "\(variable.rawValue) or \(flagName)")
        if let problem = problems.found.first { throw problem }
        return path
    }

    private init(
        flags: Flags, environment: [String: String], file: ConfigurationFile, certificate: ServerCertificate?,
        sha256: ([UInt8]) throws -> [UInt8], problems: inout ConfigurationProblems
    ) {
        // Set but empty is how container tools say unset.
        let environment = environment.filter { !$0.value.isEmpty }
        problems.checkNames(in: environment)
        host = flags.host ?? environment[Variable.host.rawValue] ?? "127.0.0.1"
        port = flags.port ?? problems.port(in: environment) ?? 8080
        problems.checkPort(port)
        metricsAddress = problems.metricsAddress(flags.metricsAddress ?? environment[Variable.metricsAddress.rawValue])
        sharesPort = flags.reusePort || problems.isOn(.reusePort, in: environment)
        self.certificate = certificate
        isBehindProxy = flags.behindProxy || problems.isOn(.behindProxy, in: environment)
        proxies = TrustedProxies(
            problems.networks(flags.trustedProxies ?? environment[Variable.trustedProxies.rawValue]),
            arePeersProxies: isBehindProxy)
        let named = problems.path(
            flags.keysDirectory ?? environment[Variable.keysDirectory.rawValue],
            setBy: "\(Variable.keysDirectory.rawValue) or --keys-dir")
        keysDirectory = named ?? "keys"
        namesKeysDirectory = named != nil
        allowsReadableKeys = flags.allowReadableKeys || problems.isOn(.allowReadableKeys, in: environment)
        catalogue = file.catalogue
        wanted = problems.wantedKeys(flags: flags, environment: environment, file: file)
        issuerIDs = IssuerIDs(
            ofAllApps: problems.issuerID(flags.issuerID ?? environment[Variable.issuerID.rawValue]),
            ofApps: file.issuerIDs)
        callers = Callers(
            file.callers + problems.callers(in: environment, sha256: sha256), userIssuers: file.userIssuers,
            usernameSalt: problems.usernameSalt(in: environment, for: file.userIssuers))
        problems.check(callers)
        limits = file.limits
        audit = problems.audit(flag: flags.auditLog, environment: environment)
        logLevel = flags.logLevel ?? problems.choice(.logLevel, in: environment) ?? .info
        logFormat = flags.logFormat ?? problems.choice(.logFormat, in: environment) ?? .text
        keyText = environment[Variable.privateKey.rawValue].map(Secret.init)
        isDevelopment = flags.development
        let allowsAnyone = flags.allowAnyone || problems.isOn(.allowAnyone, in: environment)
        if !LoopbackAddress.isLoopback(host) { problems.checkOpenToOthers(self, allowsAnyone: allowsAnyone) }
    }

    /// The ID of the key that `--development` makes. No key of App Store Connect has it.
    package static let developmentKeyID = "DEVELOPKEY"
}
