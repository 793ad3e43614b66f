package import OfferCore
import OfferCrypto
package import OfferEligibility

/// The contents of the configuration file (YAML): apps with their products and offers, callers, users, and limits.
///
/// ```yaml
/// apps:
///   - bundleID: com.example.app
///     keyID: 2X9R4HXF34          # optional: the app's own key
///     keyFingerprint: 9a1c…      # optional: SHA-256 of the key's public half, printed by 'offer-signer keys list'
///     issuerID: 57246542-96fe-1a63-e053-0824d011072a  # optional: the app's own issuer
///     allowUnboundJWS: true      # optional: also sign a JWS that any customer of the app can use
///     appAppleID: 1234567890     # optional: Apple's number of the app, needed for production data
///     environments: [Production, Sandbox]  # optional: both with an appAppleID, otherwise Sandbox
///     ownership: first           # optional: first, transfer or share
///     freshness: 12h             # optional: refresh customers whose data is older
///     sharedSecret: file:/run/secrets/app-store  # optional: for notifications of version 1
///     notifications:
///       forward: [https://backend.example/app-store]  # optional: none
///     products:
///       - productID: com.example.app.pro.monthly
///         subscriptionGroupID: "21012345"  # optional
///         rank: 2                # optional: the higher, the better within its group
///         price: {USD: 9.99}     # optional, for doctor
///         offers:
///           - retention_50off_3m # no rule: anyone who may request it gets it
///           - offerID: winback_1m
///             rule: win_back     # a name below, or a condition in place
///             priority: 20       # optional: 0; the higher one is offered first
///             limits: {perCustomer: {count: 1, every: 365d}, cooldown: 30d, outstanding: 1, total: 10000}
///     introductoryOffers: {rule: app_store_default}  # optional: a caller says who may have one
///     retention:                 # optional: messages to a customer who is about to cancel; the first case that holds
///       - rule: loyalty
///         signature: v1          # optional: v2, a JWS
///         promotionalOffer: {productID: com.example.app.pro.monthly, offerID: winback_1m, message: 0d2e6a4e-…}
///       - message: {en-US: 1f0c6a4e-…, en: 1f0c6a4e-…, default: 1f0c6a4e-…}
/// rules:
///   win_back:
///     subscription: {status: expired, endedBecause: cancelled, endedAgo: {atLeast: 7d}}
/// callers:
///   - name: backend
///     tokenSHA256: 3b1f…         # printed by 'offer-signer tokens new'
///     scopes: [sign, explain]    # optional: sign only
///     apps: [com.example.app]    # optional: all
///     expires: 2027-01-01        # optional: never; the token expires when that day begins, UTC
/// users:
///   - issuer: https://id.example.com/
///     audience: com.example.offers
///     jwks: https://id.example.com/jwks.json  # or the path of a file
///     algorithms: [RS256]        # optional: ES256 and RS256
///     applicationUsername: sub   # or hashedUsername, or appAccountToken
///     apps: [com.example.app]    # optional: all
///     sharesCustomers: true      # optional: false; true if another issuer of the same app has the same customers
/// limits:                        # each is optional
///   tokens: off
///   users: {perSecond: 1, burst: 60}
/// ```
package struct ConfigurationFile: Sendable {
    /// The apps, products and offers; nil if the file has no `apps`.
    package private(set) var catalogue: Catalogue?
    /// The key IDs of apps with their own key.
    package private(set) var keyIDs: [BundleID: KeyID] = [:]
    /// The required fingerprints of these keys; see ``WantedKeys/fingerprints``.
    package private(set) var keyFingerprints: [KeyID: String] = [:]
    /// The issuer IDs of apps with their own issuer.
    package private(set) var issuerIDs: [BundleID: IssuerID] = [:]
    package private(set) var callers: [Caller] = []
    package private(set) var userIssuers: [UserIssuer] = []

    package private(set) var limits = Limits()
    /// The rules of the file by name.
    package private(set) var rules: [String: Condition] = [:]
    /// True if an app has settings that need a database.
    package private(set) var needsStore = false

    private static let membersThatNeedStore = ["sharedSecret", "notifications", "ownership", "freshness"]

    /// Reads a secret from the file at a path.
    package typealias ReadSecret = (_ path: String) throws(Diagnostic) -> Secret

    /// The maximum file size, in bytes.
    package static let maximumSize = 16 * 1024 * 1024

    /// Creates an empty configuration.
    package init() {}

    /// - Parameters:
    ///   - name: the file name to use in error messages.
    ///   - readSecret: reads the secrets that the file names; by default, there are none.
    /// - Returns: the settings that could be read, and every problem with its line.
    package static func read(
        _ text: [UInt8], name: String, readSecret: ReadSecret = Self.noSecrets
    ) -> (file: ConfigurationFile, problems: [Diagnostic]) {
        var file = ConfigurationFile()
        var reader = YAMLReader(name: name)
        if let root = reader.compose(text) {
            let members = reader.members(
                of: root, "the configuration", known: ["apps", "callers", "users", "limits", "rules"])
            if members.isEmpty {
                reader.add("this file lists no apps, callers or users", at: root, hint: "add some, or omit the file")
            }
            var rules = RulesReader(members["rules"], builtIn: BuiltInRules.conditions, &reader)
            if let apps = members["apps"] {
                let digest = (try? SHA256.hash(text)) ?? []
                file.catalogue = file.readApps(apps, digest, &rules, &reader, readSecret)
            }
            file.rules = rules.named
            if let callers = members["callers"] { file.readCallers(callers, &reader) }
            if let limits = members["limits"] { file.limits = LimitsReader.read(limits, &reader) }
            if let users = members["users"] { file.userIssuers = UserIssuersReader.read(users, &reader) }
        }
        return (file, reader.problems)
    }

    package static func noSecrets(_ path: String) throws(Diagnostic) -> Secret {
        throw Diagnostic("\(path) cannot be read", hint: "put it there, or name another file")
    }

    // MARK: Apps

    private mutating func readApps(
        _ node: YAMLNode, _ digest: [UInt8], _ rules: inout RulesReader, _ reader: inout YAMLReader,
        _ readSecret: ReadSecret
    ) -> Catalogue {
        var apps: [BundleID: Catalogue.App] = [:]
        var seen: Set<String> = []
        let nodes = reader.items(of: node, "apps")
        if nodes.isEmpty {
            reader.add("apps is empty, so nothing would be signed", at: node, hint: "add an app, or remove apps")
        }
        for (index, node) in nodes.enumerated() {
            let place = RuleNode(node, "apps[\(index)]")
            guard let (bundleID, app) = readApp(place, &rules, &reader, readSecret) else { continue }
            // According to Apple, bundle IDs are case-insensitive, so no two apps differ only in letter case.
            guard seen.insert(bundleID.text.description.lowercased()).inserted else {
                reader.add("this app is a duplicate; letter case is ignored", at: node, hint: "remove one")
                continue
            }
            if let number = app.appAppleID, apps.values.contains(where: { $0.appAppleID == number }) {
                reader.add("another app has this appAppleID", at: node, hint: "copy it from App Store Connect")
            }
            apps[bundleID] = app
        }
        return Catalogue(apps: apps, digest: digest)
    }

    private mutating func readApp(
        _ place: RuleNode, _ rules: inout RulesReader, _ reader: inout YAMLReader, _ readSecret: ReadSecret
    ) -> (BundleID, Catalogue.App)? {
        let node = place.node
        let members = reader.members(
            of: node, "an app",
            known: [
                "bundleID", "keyID", "keyFingerprint", "issuerID", "allowUnboundJWS", "appAppleID", "environments",
                "sharedSecret", "notifications", "ownership", "freshness", "products",
                "introductoryOffers", "retention", "jwsLifetime", "preferWinBackOffers", "sandboxV1",
            ],
            required: ["bundleID", "products"], renamed: ["appStoreID": "appAppleID"])
        let bundleID = members["bundleID"].flatMap { node in
            reader.value(of: node) { text throws(FieldError) in try BundleID(utf8: text, field: "bundleID") }
        }
        if Self.membersThatNeedStore.contains(where: { members[$0] != nil }) { needsStore = true }
        let products =
            members["products"].map { ProductsReader.read(place.member("products", $0), &rules, &reader) } ?? [:]
        let appAppleID = members["appAppleID"].flatMap { reader.number(of: $0, "appAppleID") }
        let environments =
            members["environments"].flatMap {
                Self.readEnvironments($0, hasAppAppleID: members["appAppleID"] != nil, &reader)
            } ?? Catalogue.App.defaultEnvironments(appAppleID: appAppleID)
        let appRules = AppRulesReader.read(
            members, at: place,
            of: RetentionReader.App(
                hasAppAppleID: members["appAppleID"] != nil, environments: environments, products: products),
            &rules, &reader)
        if !appRules.isEmpty { needsStore = true }
        let app = Catalogue.App(
            appAppleID: appAppleID, environments: environments,
            offers: products.mapValues(\.offers), groups: products.compactMapValues(\.group),
            familySharable: Set(products.filter(\.value.isFamilySharable).keys),
            allowsUnboundJWS: members["allowUnboundJWS"].flatMap { reader.bool(of: $0, "allowUnboundJWS") } ?? false,
            ownership: members["ownership"].flatMap { Self.readOwnership($0, &reader) } ?? .first,
            freshness: members["freshness"].flatMap { reader.duration(of: $0, "freshness") },
            notifications: AppNotifications(
                receivers: members["notifications"].map { Self.readReceivers($0, &reader) } ?? [],
                sharedSecret: members["sharedSecret"].flatMap { Self.readSharedSecret($0, &reader, readSecret) }),
            rules: appRules, prices: products.values.sorted { $0.place < $1.place }.flatMap(\.prices))
        let keyID = members["keyID"].flatMap { node in
            reader.value(of: node) { text throws(FieldError) in try KeyID(utf8: text) }
        }
        if let node = members["keyFingerprint"] { readFingerprint(node, of: keyID, members["keyID"], &reader) }
        let issuerID = members["issuerID"].flatMap { node in
            reader.value(of: node) { text throws(FieldError) in try IssuerID(utf8: text) }
        }
        guard let bundleID else { return nil }
        keyIDs[bundleID] = keyID
        issuerIDs[bundleID] = issuerID
        return (bundleID, app)
    }

    /// - Parameters:
    ///   - keyID: the ID of the app's own key; nil if it is invalid or missing.
    ///   - nodeOfID: nil if it is missing.
    private mutating func readFingerprint(
        _ node: YAMLNode, of keyID: KeyID?, _ nodeOfID: YAMLNode?, _ reader: inout YAMLReader
    ) {
        guard nodeOfID != nil else {
            reader.add(
                "keyFingerprint needs a keyID beside it", at: node,
                hint: "add the keyID, or set \(Settings.keyFingerprint.variable) for the key of all apps")
            return
        }
        guard let digest = reader.text(of: node).flatMap({ Hexadecimal.bytes(of: $0, count: 32) }) else {
            reader.add("keyFingerprint is not 64 hexadecimal digits", at: node, hint: Parse.keyFingerprintHint)
            return
        }
        guard let keyID else { return }
        let fingerprint = Hexadecimal.text(of: digest)
        if let other = keyFingerprints.updateValue(fingerprint, forKey: keyID), other != fingerprint {
            reader.add("key \(keyID) has another fingerprint above", at: node, hint: Parse.keyFingerprintHint)
        }
    }

    /// - Returns: nil if nothing valid is listed.
    private static func readEnvironments(
        _ node: YAMLNode, hasAppAppleID: Bool, _ reader: inout YAMLReader
    ) -> Set<AppStoreEnvironment>? {
        var environments: Set<AppStoreEnvironment> = []
        let nodes = reader.items(of: node, "environments")
        if nodes.isEmpty { reader.add("environments is empty", at: node, hint: "list Production or Sandbox") }
        for node in nodes {
            guard let environment = reader.text(of: node).map(AppStoreEnvironment.init) else { continue }
            guard AppStoreEnvironment.known.contains(environment) else {
                reader.add(
                    "this is not an environment of the App Store", at: node,
                    hint: "use any of \(AppStoreEnvironment.known.map(\.rawValue).joined(separator: ", "))")
                continue
            }
            if environment == .production, !hasAppAppleID {
                reader.add(
                    "Production needs the app's appAppleID, which production data is checked against", at: node,
                    hint: "copy it from App Store Connect, under App Information")
            }
            environments.insert(environment)
        }
        return environments.isEmpty ? nil : environments
    }

    private static func readOwnership(_ node: YAMLNode, _ reader: inout YAMLReader) -> OwnershipPolicy? {
        reader.text(of: node).flatMap { text in
            OwnershipPolicy(rawValue: text)
                ?? reader.refuse(
                    "this is not a policy of ownership", at: node,
                    hint: "use any of \(OwnershipPolicy.allCases.map(\.rawValue).joined(separator: ", "))")
        }
    }

    /// Reads the URLs to which notifications are forwarded.
    private static func readReceivers(_ node: YAMLNode, _ reader: inout YAMLReader) -> [String] {
        let members = reader.members(of: node, "notifications", known: ["forward"])
        var receivers: [String] = []
        for node in members["forward"].map({ reader.items(of: $0, "forward") }) ?? [] {
            guard let url = reader.text(of: node) else { continue }
            guard ServerURL.isGood(url) else {
                reader.add(
                    "this is not a URL that notifications may be sent to", at: node,
                    hint: "write it like https://backend.example/app-store; http is allowed only for loopback hosts")
                continue
            }
            if receivers.contains(url) { reader.add("this URL is a duplicate", at: node, hint: "remove one") }
            receivers.append(url)
        }
        return receivers
    }

    private static func readSharedSecret(
        _ node: YAMLNode, _ reader: inout YAMLReader, _ readSecret: ReadSecret
    ) -> Secret? {
        guard let text = reader.text(of: node) else { return nil }
        guard text.hasPrefix("file:"), text != "file:" else {
            return reader.refuse(
                "sharedSecret is not the path of a file", at: node,
                hint: "put the secret into a file and write file: before its path, such as file:/run/secrets/app")
        }
        do throws(Diagnostic) { return try readSecret(String(text.dropFirst("file:".count))) } catch {
            return reader.refuse("sharedSecret: \(error.error)", at: node, hint: error.hint)
        }
    }

    // MARK: Callers

    private mutating func readCallers(_ node: YAMLNode, _ reader: inout YAMLReader) {
        let nodes = reader.items(of: node, "callers")
        if nodes.isEmpty {
            reader.add(
                "callers is empty, so anyone could request signatures", at: node,
                hint: "add a caller, or remove callers")
        }
        for node in nodes { readCaller(node, &reader) }
    }

    private static let scopes = Caller.Scope.allCases.map(\.rawValue).joined(separator: ", ")

    private mutating func readCaller(_ node: YAMLNode, _ reader: inout YAMLReader) {
        let members = reader.members(
            of: node, "a caller", known: ["name", "tokenSHA256", "scopes", "apps", "expires", "hashUsernames"],
            required: ["name", "tokenSHA256"])
        let name = members["name"].flatMap { node in
            reader.text(of: node).flatMap { text in
                Caller.isName(text)
                    ? text
                    : reader.refuse("this is not a valid name", at: node, hint: "up to 64 letters, digits, . - _")
            }
        }
        let digest = members["tokenSHA256"].flatMap { node in
            reader.text(of: node).flatMap { text in
                Hexadecimal.bytes(of: text, count: 32)
                    ?? reader.refuse(
                        "tokenSHA256 is not 64 hexadecimal digits", at: node,
                        hint: "create a token with: offer-signer tokens new")
            }
        }
        var scopes: Set<Caller.Scope>?
        if let node = members["scopes"] {
            scopes = Set(
                reader.items(of: node, "scopes").compactMap { node in
                    reader.text(of: node).flatMap { text in
                        Caller.Scope(rawValue: text)
                            ?? reader.refuse("this is not a scope", at: node, hint: "use any of \(Self.scopes)")
                    }
                })
        }
        let apps = members["apps"].map { reader.bundleIDs(of: $0) }
        let expiry = members["expires"].flatMap { node in
            reader.text(of: node).flatMap { text in
                ExpiryDate.read(text)
                    ?? reader.refuse("expires is not a date", at: node, hint: "write it like 2027-01-31")
            }
        }
        let hashesUsernames = members["hashUsernames"].flatMap { reader.bool(of: $0, "hashUsernames") } ?? false
        guard let name, let digest else { return }
        callers.append(
            Caller(
                name: name, tokenDigest: digest, scopes: scopes ?? Caller.Scope.usual, apps: apps, expiry: expiry,
                hashesUsernames: hashesUsernames))
    }
}
