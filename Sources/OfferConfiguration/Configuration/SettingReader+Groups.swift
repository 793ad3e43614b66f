import AppStoreAPI
import AppStoreConnect
import AppStoreData
import OfferAudit
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferIdentity
import OfferKeys
import SubscriberStore

// Groups of settings that depend on each other, or on the configuration file.
extension SettingReader {
    mutating func keys(flags: Configuration.Flags, file: ConfigurationFile) -> KeySettings {
        let text = value(Settings.privateKey)
        let ofAllApps = value(Settings.keyID)
        let ofApps = value(Settings.bundleKeyIDs)
        let fingerprints = keyFingerprints(ofAllApps: ofAllApps, file: file)
        let isKeyIDSet = isSet(Settings.keyID)
        let isAnyKeyChosen = isKeyIDSet || isSet(Settings.bundleKeyIDs) || !file.keyIDs.isEmpty
        if text != nil, !isKeyIDSet {
            add(
                "\(Settings.privateKey.variable) is set without the key's ID",
                hint: "set \(Settings.keyID.variable) to the ID that App Store Connect shows for that key")
        } else if !isAnyKeyChosen, !flags.development, !flags.mayChooseNoKey {
            add(
                "no signing key is chosen",
                hint: """
                    set \(Settings.keyID.variable) and put SubscriptionKey_<KEYID>.p8 from App Store Connect into keys/, \
                    or try the service with: offer-signer serve --development
                    """)
        }
        if flags.development, isAnyKeyChosen {
            add(
                "--development uses a development key, but a key ID is also configured",
                hint: "remove one of them")
        }
        if let catalogue = file.catalogue, ofApps.keys.contains(where: { catalogue.apps[$0] == nil }) {
            add(
                "\(Settings.bundleKeyIDs.variable) names an app that is not in the configuration file",
                hint: "add the app there with its products and offers, or remove it here")
        }
        let choice = KeyChoice(
            ofAllApps: flags.development ? developmentKeyID() : ofAllApps,
            ofApps: file.keyIDs.merging(ofApps) { $1 })
        let retired = value(Settings.retiredKeyIDs)
        for id in retired.sorted() where choice.chooses(id) {
            add(
                "key \(id) is chosen to sign but also retired (\(Settings.retiredKeyIDs.variable))",
                hint: "a retired key never signs: choose another one, or remove it from the list")
        }
        let directory = value(Settings.keysDirectory)
        let folder = KeyFolder(
            path: directory ?? "keys", allowsReadableByOthers: value(Settings.allowReadableKeys),
            mayBeMissing: directory == nil)
        if text != nil, let ofAllApps, file.tokenKeys.contains(where: { $0.id == ofAllApps }) {
            add(
                "\(Settings.privateKey.variable) is set, but key \(ofAllApps) is in a token",
                hint: "remove the variable, or the key from keys in the configuration file")
        }
        return KeySettings(
            wanted: WantedKeys(choice: choice, retired: retired, fingerprints: fingerprints), text: text,
            tokens: file.tokenKeys.map { $0.allowingReadablePIN(folder.allowsReadableByOthers) }, folder: folder)
    }

    /// Returns the required fingerprints, by key ID.
    private mutating func keyFingerprints(ofAllApps id: KeyID?, file: ConfigurationFile) -> [KeyID: String] {
        guard let fingerprint = value(Settings.keyFingerprint) else { return file.keyFingerprints }
        guard let id else {
            if !isSet(Settings.keyID) {
                add(
                    "\(Settings.keyFingerprint.variable) is set without the key's ID",
                    hint: "set \(Settings.keyID.variable), or keyFingerprint of an app in the configuration file")
            }
            return file.keyFingerprints
        }
        if let other = file.keyFingerprints[id], other != fingerprint {
            add(
                "\(Settings.keyFingerprint.variable) and the configuration file give key \(id) different fingerprints",
                hint: Parse.keyFingerprintHint)
        }
        return file.keyFingerprints.merging([id: fingerprint]) { $1 }
    }

    private func developmentKeyID() -> KeyID? { try? KeyID(utf8: Array(Configuration.developmentKeyID.utf8)) }

    /// - Parameter roots: the certificates to trust instead of Apple's; nil to trust Apple's.
    mutating func appStore(flags: Configuration.Flags, file: ConfigurationFile, roots: TrustedRoots?)
        -> AppStoreSettings
    {
        let environments = file.catalogue?.apps.values.flatMap(\.environments) ?? []
        for environment in AppStoreEnvironment.known
        where environment.isDevelopmentOnly && environments.contains(environment) && !flags.development {
            add(
                "an app accepts data of \(environment.rawValue), which anyone can sign",
                hint: "remove it from the app's environments, or start with --development")
        }
        // Read the setting so that a reload compares it. Its file was read earlier.
        _ = value(Settings.appStoreRoots)
        return AppStoreSettings(roots: roots, ocsp: value(Settings.ocsp), isDevelopment: flags.development)
    }

    /// - Parameters:
    ///   - ofData: the rules for trusting App Store data. The App Store is not queried for data that would be refused.
    ///   - roots: the certificates to trust for the servers, in addition to the system's.
    /// - Returns: nil if the App Store is not queried.
    mutating func appStoreAPI(
        flags: Configuration.Flags, ofData: AppStoreSettings, store: StoreSettings?, roots: [X509Certificate]?
    ) -> AppStoreAPISettings? {
        let mode = value(Settings.appStoreAPI)
        let (production, sandbox) = (value(Settings.appStoreAPIURL), value(Settings.appStoreSandboxAPIURL))
        let receipts = (value(Settings.verifyReceiptURL), value(Settings.sandboxVerifyReceiptURL))
        // Read the setting so that a reload compares it. Its file was read earlier.
        _ = value(Settings.appStoreAPIRoots)
        let wait = Duration.milliseconds(value(Settings.appStoreWaitMilliseconds))
        let queriesApple = production == nil && sandbox == nil
        let isUsual = !queriesApple || (ofData.ownRoots == nil && !flags.development)
        guard store != nil, (mode ?? (isUsual ? .on : .off)) == .on else { return nil }
        return AppStoreAPISettings(
            hosts: APIHosts(production: production, sandbox: sandbox),
            receiptHosts: ReceiptServiceHosts(production: receipts.0, sandbox: receipts.1), roots: roots ?? [],
            wait: wait)
    }

    /// - Parameters:
    ///   - file: the key, read earlier; nil if it is not set or cannot be read.
    ///   - roots: the certificates to trust for the server, in addition to the system's.
    /// - Returns: nil if nothing is read from App Store Connect.
    mutating func appStoreConnect(
        _ file: AppStoreConnectKeyFile?, roots: [X509Certificate]?
    ) -> AppStoreConnectSettings? {
        let names = [value(Settings.appStoreConnectKeyFile) != nil, value(Settings.appStoreConnectKey) != nil]
        let (keyID, issuerID) = (value(Settings.appStoreConnectKeyID), value(Settings.appStoreConnectIssuerID))
        let host = value(Settings.appStoreConnectURL)
        guard names.contains(true) else {
            if keyID != nil || issuerID != nil {
                add(
                    "settings of App Store Connect are present, but there is no key for it",
                    hint: "set \(Settings.appStoreConnectKeyFile.variable)")
            }
            return nil
        }
        if names == [true, true] {
            add(
                "the key for App Store Connect is given twice",
                hint: "unset \(Settings.appStoreConnectKey.variable) or \(Settings.appStoreConnectKeyFile.variable)")
        }
        guard let file else { return nil }
        guard let keyID = keyID ?? file.keyID else {
            add(
                "the ID of the key for App Store Connect is unknown",
                hint: "set \(Settings.appStoreConnectKeyID.variable), or name the file AuthKey_<KEYID>.p8")
            return nil
        }
        return AppStoreConnectSettings(
            key: AppStoreConnectKey(keyID: keyID, issuerID: issuerID, pair: file.key), host: host, roots: roots ?? [])
    }

    /// - Parameter hasConsole: true if the console needs the database for its sessions.
    /// - Returns: nil if no database is configured or needed.
    mutating func store(file: ConfigurationFile, hasConsole: Bool) -> StoreSettings? {
        let (location, days) = (value(Settings.database), value(Settings.payloadDays))
        if let location, isFlag(Settings.database), location.containsPassword {
            add(
                "--database contains a password, which the list of processes shows to every account of this machine",
                hint: "set \(Settings.database.variable) in the environment or in the environment file instead")
        }
        if location == nil, !file.needsStore, !hasConsole {
            if isSet(Settings.payloadDays) || isSet(Settings.notificationsAddress) {
                add(
                    "settings of the database are present, but there is none",
                    hint: "set \(Settings.database.variable), or notifications of an app in the configuration file")
            }
            return nil
        }
        if file.catalogue == nil, !hasConsole {
            add(
                "\(Settings.database.variable) is set, but no app is configured, so no notification would be accepted",
                hint: "name your apps in \(Settings.configurationFile.variable)")
        }
        return StoreSettings(location: location ?? StoreSettings.defaultLocation, payloadDays: days)
    }

    /// - Parameter roots: the certificates to trust for receivers, in addition to the system's.
    mutating func forwarding(file: ConfigurationFile, roots: [X509Certificate]?) -> ForwardSettings {
        // Read the setting so that a reload compares it. Its file was read earlier.
        let path = value(Settings.forwardRoots)
        let key = value(Settings.forwardKey)
        let hasReceivers =
            file.catalogue?.apps.values
            .contains { !$0.notifications.receivers.isEmpty || !$0.events.receivers.isEmpty } ?? false
        if !hasReceivers, path != nil || key != nil {
            add(
                "settings for forwarding are present, but no app forwards its notifications or sends events",
                hint:
                    "list URLs under notifications.forward or events.to of an app in \(Settings.configurationFile.variable)"
            )
        }
        return ForwardSettings(key: key, roots: roots ?? [])
    }

    mutating func links() -> LinkSettings {
        LinkSettings(
            address: value(Settings.linksAddress), origin: value(Settings.linksURL), key: value(Settings.linksKey))
    }

    /// - Parameters:
    ///   - isSecure: true if the service has a certificate.
    ///   - roots: the certificates to trust for the identity provider, in addition to the system's.
    /// - Returns: nil if there is no console.
    mutating func console(isSecure: Bool, roots: [X509Certificate]?) -> ConsoleSettings? {
        let (address, url) = (value(Settings.consoleAddress), value(Settings.consoleURL))
        // Read the settings so that a reload compares them.
        let provider = ConsoleProviderTexts(
            issuer: value(Settings.consoleIssuer), clientID: value(Settings.consoleClientID),
            clientSecret: value(Settings.consoleClientSecret), claim: value(Settings.consoleRoleClaim),
            roles: value(Settings.consoleRoles))
        _ = value(Settings.consoleIssuerRoots)
        guard let address else {
            if isSet(Settings.consoleURL) || isSet(Settings.consoleIssuer) {
                add(
                    "settings of the console are present, but there is no console",
                    hint: "set \(Settings.consoleAddress.variable), for example to 127.0.0.1:8081")
            }
            return nil
        }
        guard url != nil || LoopbackAddress.isLoopback(address.host) else {
            add(
                "\(Settings.consoleAddress.name) is not a loopback address, and the console's URL is unknown",
                hint:
                    "set \(Settings.consoleURL.variable) to the URL in the browser, such as https://offers.example.com")
            return nil
        }
        let origin = url ?? ConsoleOrigin(of: address, port: address.port, isSecure: isSecure)
        return ConsoleSettings(
            address: address, origin: origin, provider: consoleProvider(provider, origin, roots: roots ?? []))
    }

    mutating func addMissingTrail() {
        add(
            "there is a console, but no audit trail that records who looked at whom",
            hint: "set \(Settings.auditLog.variable) to a file, or start with --development")
    }

    private struct ConsoleProviderTexts {
        let issuer: String?
        let clientID: String?
        let clientSecret: Secret?
        let claim: String
        let roles: [String: [String]]
    }

    private mutating func consoleProvider(
        _ texts: ConsoleProviderTexts, _ origin: ConsoleOrigin, roots: [X509Certificate]
    ) -> ConsoleSettings.Provider? {
        guard let issuer = texts.issuer else { return nil }
        guard let clientID = texts.clientID, !texts.roles.isEmpty else {
            add(
                "\(Settings.consoleIssuer.variable) is set without the console's client ID or its roles",
                hint: "set \(Settings.consoleClientID.variable) and \(Settings.consoleRoles.variable)")
            return nil
        }
        do throws(Diagnostic) {
            let settings = try SignInSettings(
                issuer: issuer, clientID: clientID, clientSecret: texts.clientSecret,
                redirectURL: origin.text + ConsoleSettings.returnPath, roleClaim: texts.claim, roots: roots)
            return ConsoleSettings.Provider(settings: settings, roles: RoleMapping(texts.roles))
        } catch {
            add(error.error, hint: error.hint)
            return nil
        }
    }

    mutating func callers(file: ConfigurationFile) -> Callers {
        let salt = value(Settings.usernameSalt)
        let needsSalt = file.userIssuers.contains { if case .hashedUsername = $0.customer { true } else { false } }
        if needsSalt, salt == nil {
            add("users have a hashedUsername, but \(Settings.usernameSalt.variable) is not set", hint: Parse.secretHint)
        }
        let callers = Callers(
            file.callers + value(Settings.tokens), userIssuers: file.userIssuers, usernameSalt: salt)
        if callers.shareTokens {
            add(
                "two callers have the same token",
                hint: "give each caller its own token, in the configuration file and in the environment")
        }
        if callers.areTooMany {
            add("there are more than \(Callers.maximumCount) callers", hint: "remove those that are not used")
        }
        return callers
    }

    mutating func audit() -> AuditSettings? {
        let path = value(Settings.auditLog)
        let isSynced = value(Settings.auditSync)
        let key = value(Settings.auditKey)
        let megabytes = value(Settings.auditRotateMB)
        let chain = value(Settings.auditChain)
        let addresses = value(Settings.auditAddresses)
        let isAnySet =
            isSynced || key != nil || megabytes != nil || isSet(Settings.auditChain) || isSet(Settings.auditAddresses)
        if path == nil, isAnySet {
            add(
                "audit trail settings are present, but \(Settings.auditLog.variable) is not set",
                hint: "name a file, or unset \(Settings.auditKey.variable) and the other audit settings")
        }
        if chain == .hmac, key == nil {
            add(
                "\(Settings.auditChain.variable) is hmac, but \(Settings.auditKey.variable) is not set",
                hint: Parse.secretHint)
        }
        return path.map { path in
            AuditSettings(
                path: path, isSynced: isSynced, rotatesAtBytes: megabytes.map { $0 * 1_000_000 }, key: key,
                chain: chain, addresses: addresses)
        }
    }

    /// Adds a problem if notifications from other machines could be read in transit.
    mutating func checkExposure(of address: ListeningAddress, _ name: String, in configuration: Configuration) {
        guard !LoopbackAddress.isLoopback(address.host), configuration.certificate == nil,
            !configuration.isBehindProxy
        else { return }
        add(
            "\(name) is not a loopback address, and without TLS, customers' purchases could "
                + "be read in transit",
            hint: """
                set \(Settings.tlsCertificate.variable) and \(Settings.tlsKey.variable), or, if every request passes through \
                a proxy that speaks TLS, \(Settings.behindProxy.variable)=true
                """)
    }

    /// Adds a problem if a service reachable from other machines would expose tokens in transit, serve strangers, or
    /// sign any offer with one key.
    mutating func checkExposure(of configuration: Configuration, allowsAnyone: Bool) {
        let host = "\(Settings.host.name) is not a loopback address"
        if configuration.certificate == nil, !configuration.isBehindProxy {
            add(
                "\(host), and without TLS, tokens and signatures could be read in transit",
                hint: """
                    set \(Settings.tlsCertificate.variable) and \(Settings.tlsKey.variable), or, if every request passes \
                    through a proxy that speaks TLS, \(Settings.behindProxy.variable)=true
                    """)
        }
        if configuration.callers.isEmpty, !allowsAnyone {
            add(
                "\(host), and no caller is configured, so anyone who can reach the service can request signatures",
                hint: """
                    create a token with: offer-signer tokens new; or, if something else keeps strangers out, set \
                    \(Settings.allowAnyone.variable)=true
                    """)
        }
        if configuration.catalogue == nil, configuration.keys.wanted.choice.ofAllApps != nil {
            add(
                "\(host), and one key signs for any app, product and offer",
                hint: """
                    name apps and their offers in \(Settings.configurationFile.variable), or each app's key in \
                    \(Settings.bundleKeyIDs.variable) instead of \(Settings.keyID.variable)
                    """)
        }
    }
}
