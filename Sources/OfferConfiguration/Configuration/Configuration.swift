package import AppStoreData
package import Logging
package import OfferAudit
package import OfferCore
package import OfferCrypto
package import OfferEligibility
package import OfferHTTP
package import OfferKeys
package import OfferTelemetry

/// The configuration of the service. Flags override the environment, which overrides the defaults. It is read at
/// startup and on every SIGHUP.
package struct Configuration: Sendable {
    /// The settings given on the command line.
    package struct Flags: Sendable {
        private var texts: [String: String] = [:]
        /// True to sign with the key that `--development` creates.
        package var development = false
        /// True if choosing a key is optional, as for commands that do not sign.
        package var mayChooseNoKey = false

        package init() {}

        /// The text of a flag; `true` for a switch that is on. nil if the flag is absent.
        package subscript<Value>(setting: Setting<Value>) -> String? {
            get { texts[setting.variable] }
            set { texts[setting.variable] = newValue }
        }
    }

    package let address: ListeningAddress
    /// The separate address for metrics; nil if `/metrics` is served at the main address.
    package let metricsAddress: ListeningAddress?
    /// True if another process may listen on the same port (`SO_REUSEPORT`), so that a successor can start before this
    /// process stops.
    package let sharesPort: Bool
    /// The TLS certificate; nil for plain HTTP.
    package let certificate: ServerCertificate?
    /// True if every request passes through a proxy that speaks TLS.
    package let isBehindProxy: Bool
    package let proxies: TrustedProxies
    /// The origins of web pages that may call the service from a browser.
    package let webOrigins: Set<WebOrigin>
    package let keys: KeySettings
    package let issuerIDs: IssuerIDs
    /// The catalogue of offers; nil means that any offer is signed if its app has a key.
    package let catalogue: Catalogue?
    package let callers: Callers
    package let limits: Limits
    /// The memory for connections, requests and responses, in bytes.
    package let memoryLimit: Int
    package let appStore: AppStoreSettings
    /// The database settings; nil if no subscribers are stored.
    package let store: StoreSettings?
    /// The settings for requests to the App Store; nil if it is not queried.
    package let appStoreAPI: AppStoreAPISettings?
    /// The settings for App Store Connect; nil if nothing is read from it.
    package let appStoreConnect: AppStoreConnectSettings?
    /// The separate address for notifications; nil if they are received at the main address.
    package let notificationsAddress: ListeningAddress?
    /// The time limit for answering a request for a retention message, measured from the first byte of the request.
    package let retentionDeadline: Duration
    package let forwarding: ForwardSettings
    /// The settings of links of campaigns.
    package let links: LinkSettings
    /// nil if there is no console.
    package let console: ConsoleSettings?
    /// The settings of the audit trail; nil if there is none.
    package let audit: AuditSettings?
    package let logLevel: Logger.Level
    package let logFormat: LogFormat
    /// True to sign with a development key, which is created if necessary and unknown to the App Store.
    package let isDevelopment: Bool
    /// The value of every setting by variable, for ``ReloadRules``.
    let values: [String: any Hashable & Sendable]

    /// Reads as much of the configuration as possible and reports every problem.
    /// - Parameters:
    ///   - environment: the process environment, with overrides from the environment file.
    ///   - file: the contents of the configuration file.
    ///   - certificate: the contents of the TLS files.
    ///   - roots: the certificates to trust instead of Apple's; nil to trust Apple's.
    ///   - forwardRoots: the certificates to trust for receivers, in addition to the system's; nil for none.
    ///   - apiRoots: the certificates to trust for the App Store's servers, in addition to the system's; nil for none.
    ///   - consoleRoots: the certificates to trust for the console's identity provider, in addition to the system's; nil
    ///     for none.
    package static func read(
        flags: Flags, environment: [String: String], file: ConfigurationFile = ConfigurationFile(),
        certificate: ServerCertificate? = nil, roots: TrustedRoots? = nil, forwardRoots: [X509Certificate]? = nil,
        apiRoots: [X509Certificate]? = nil, consoleRoots: [X509Certificate]? = nil
    ) -> (configuration: Configuration, problems: [Diagnostic]) {
        read(
            flags: flags, environment: environment, file: file, certificate: certificate, roots: roots,
            forwardRoots: forwardRoots, apiRoots: apiRoots, consoleRoots: consoleRoots, connectKey: nil)
    }

    /// - Parameter connectKey: the key for App Store Connect; nil if it is not set or cannot be read.
    static func read(
        flags: Flags, environment: [String: String], file: ConfigurationFile, certificate: ServerCertificate?,
        roots: TrustedRoots?, forwardRoots: [X509Certificate]?, apiRoots: [X509Certificate]?,
        consoleRoots: [X509Certificate]?, connectKey: AppStoreConnectKeyFile?
    ) -> (configuration: Configuration, problems: [Diagnostic]) {
        var reader = SettingReader(flags: flags, environment: environment)
        let configuration = Configuration(
            &reader, flags: flags, file: file, certificate: certificate, roots: roots, forwardRoots: forwardRoots,
            apiRoots: apiRoots, consoleRoots: consoleRoots, connectKey: connectKey)
        return (configuration, reader.problems)
    }

    /// Reads only the settings of the audit trail, for commands that must work even if other settings are wrong.
    /// - Returns: nil if no trail is configured.
    /// - Throws: every problem with these settings.
    package static func audit(
        flags: Flags, environment: [String: String]
    ) throws(ConfigurationError) -> AuditSettings? {
        let names = Set(Settings.ofAudit.map(\.variable))
        var reader = SettingReader(flags: flags, environment: environment.filter { names.contains($0.key) })
        let audit = reader.audit()
        guard reader.problems.isEmpty else { throw ConfigurationError(problems: reader.problems) }
        return audit
    }

    /// Reads only the key of the audit trail.
    /// - Returns: nil if it is not set.
    package static func auditKey(environment: [String: String]) throws(Diagnostic) -> Secret? {
        let text = environment[Settings.auditKey.variable] ?? ""
        if let problem = text.isEmpty ? nil : Settings.auditKey.problem(with: text) { throw problem }
        return text.isEmpty ? nil : Secret(text)
    }

    /// Returns the file path that a flag or variable sets; nil if neither is set.
    /// - Throws: a problem if the text cannot be a path.
    package static func path(
        _ setting: Setting<String?>, flags: Flags, environment: [String: String]
    ) throws(Diagnostic) -> String? {
        guard let text = flags[setting] ?? environment[setting.variable], !text.isEmpty else { return nil }
        var problems: [Diagnostic] = []
        let path = setting.parse(text, setting.name, &problems)
        if let problem = problems.first { throw problem }
        return path ?? nil
    }

    private init(
        _ reader: inout SettingReader, flags: Flags, file: ConfigurationFile, certificate: ServerCertificate?,
        roots: TrustedRoots?, forwardRoots: [X509Certificate]?, apiRoots: [X509Certificate]?,
        consoleRoots: [X509Certificate]?, connectKey: AppStoreConnectKeyFile?
    ) {
        address = ListeningAddress(host: reader.value(Settings.host), port: reader.value(Settings.port))
        metricsAddress = reader.value(Settings.metricsAddress)
        sharesPort = reader.value(Settings.reusePort)
        self.certificate = certificate
        isBehindProxy = reader.value(Settings.behindProxy)
        proxies = TrustedProxies(reader.value(Settings.trustedProxies), arePeersProxies: isBehindProxy)
        webOrigins = Set(reader.value(Settings.webOrigins))
        catalogue = file.catalogue
        keys = reader.keys(flags: flags, file: file)
        issuerIDs = IssuerIDs(ofAllApps: reader.value(Settings.issuerID), ofApps: file.issuerIDs)
        callers = reader.callers(file: file)
        limits = file.limits
        memoryLimit = reader.value(Settings.bufferMiB) * 1024 * 1024
        appStore = reader.appStore(flags: flags, file: file, roots: roots)
        store = reader.store(file: file, hasConsole: reader.isSet(Settings.consoleAddress))
        appStoreAPI = reader.appStoreAPI(flags: flags, ofData: appStore, store: store, roots: apiRoots)
        appStoreConnect = reader.appStoreConnect(connectKey, roots: apiRoots)
        notificationsAddress = reader.value(Settings.notificationsAddress)
        retentionDeadline = reader.value(Settings.retentionDeadline)
        forwarding = reader.forwarding(file: file, roots: forwardRoots)
        links = reader.links()
        console = reader.console(isSecure: certificate != nil, roots: consoleRoots)
        audit = reader.audit()
        logLevel = reader.value(Settings.logLevel)
        logFormat = reader.value(Settings.logFormat)
        isDevelopment = flags.development
        let allowsAnyone = reader.value(Settings.allowAnyone)
        values = reader.values
        if let notificationsAddress {
            reader.checkExposure(of: notificationsAddress, Settings.notificationsAddress.name, in: self)
        }
        if let address = links.address {
            reader.checkExposure(of: address, Settings.linksAddress.name, in: self)
        }
        if let console {
            reader.checkExposure(of: console.address, Settings.consoleAddress.name, in: self)
            if audit == nil, !flags.development { reader.addMissingTrail() }
        }
        if !LoopbackAddress.isLoopback(address.host) { reader.checkExposure(of: self, allowsAnyone: allowsAnyone) }
    }

    /// A notice if a proxy hides the addresses of clients, so that limits by address do not apply; otherwise nil.
    package var proxyNotice: Diagnostic? {
        guard isBehindProxy, proxies.isEmpty else { return nil }
        return Diagnostic(
            "a proxy hides the addresses of clients, so no limit applies to addresses",
            hint: "name the proxy in \(Settings.trustedProxies.variable)")
    }

    /// Warnings about origins whose pages others can change on their way to the browser. They could then make users of these pages
    /// request offers.
    package var webOriginWarnings: [Diagnostic] {
        webOrigins.filter(\.isInsecure).map(\.text).sorted().map { text in
            Diagnostic(
                "pages of \(text) may call the service, and anyone on the way to the browser can change them",
                hint: "serve the pages over HTTPS, and list that origin in \(Settings.webOrigins.variable)")
        }
    }

    /// A problem if no callers are configured. The service runs nonetheless, for development and for deployments in
    /// which something else keeps strangers out.
    package var callersProblems: [Diagnostic] {
        guard callers.isEmpty else { return [] }
        return [
            Diagnostic(
                "no caller is configured, so anyone who can reach the service can request signatures",
                hint: """
                    create a token with: offer-signer tokens new, and name its digest under callers in \
                    \(Settings.configurationFile.variable)
                    """)
        ]
    }

    /// The ID of the key that `--development` creates. No key from App Store Connect has this ID.
    package static let developmentKeyID = "DEVELOPKEY"
}

extension Configuration {
    /// The apps whose customers are refreshed from the App Store, judged only by the settings, not by the keys.
    package var syncableApps: Set<BundleID> {
        guard appStoreAPI != nil else { return [] }
        return Set((catalogue?.apps ?? [:]).keys.filter { issuerIDs[$0] != nil })
    }
}
