package import OfferCore
import OfferCrypto
package import OfferEligibility
package import OfferKeys

/// The contents of the configuration file (YAML): apps with their products and offers, callers, users, and limits.
///
/// ```yaml
/// apps:
///   - bundleID: com.example.app
///     keyID: 2X9R4HXF34          # optional: the app's own key
///     keyFingerprint: 9a1c…      # optional: SHA-256 of the key's public half, printed by 'offer-signer keys list'
///     issuerID: 57246542-96fe-1a63-e053-0824d011072a  # optional: the app's own issuer ID
///     allowUnboundJWS: true      # optional: also sign a JWS that any customer of the app can use
///     appAppleID: 1234567890     # optional: the app's Apple ID, required for production data
///     environments: [Production, Sandbox]  # optional; default: both with an appAppleID, otherwise Sandbox
///     ownership: first           # optional: first (the default), transfer or share
///     freshness: 12h             # optional: refresh customers whose data is older
///     sharedSecret: file:/run/secrets/app-store  # optional: for notifications of version 1
///     notifications:
///       forward: [https://backend.example/app-store]  # optional; default: none
///     products:
///       - productID: com.example.app.pro.monthly
///         subscriptionGroupID: "21012345"  # optional
///         rank: 2                # optional: a higher rank is better within the group
///         price: {USD: 9.99}     # optional, for doctor
///         offers:
///           - retention_50off_3m # no rule: anyone who may request the offer gets it
///           - offerID: winback_1m
///             rule: win_back     # a rule name, or an inline condition
///             priority: 20       # optional; default: 0; a higher priority is offered first
///             limits: {perCustomer: {count: 1, every: 365d}, cooldown: 30d, outstanding: 1, total: 10000}
///     introductoryOffers: {rule: app_store_default}  # optional; without it, callers decide who gets one
///     retention:                 # optional: messages for customers about to cancel; the first case that holds applies
///       - rule: loyalty
///         signature: v1          # optional; default: v2, a JWS
///         promotionalOffer: {productID: com.example.app.pro.monthly, offerID: winback_1m, message: 0d2e6a4e-…}
///       - message: {en-US: 1f0c6a4e-…, en: 1f0c6a4e-…, default: 1f0c6a4e-…}
///     instead:                   # optional: what an app shows to a customer who gets no offer
///       - {rule: {subscription: {status: billing_retry}}, show: update_payment}
/// keys:                          # optional: keys in PKCS#11 tokens; other keys are files
///   - id: 2X9R4HXF34
///     uri: pkcs11:token=offers;object=2X9R4HXF34
///     module: /usr/lib/softhsm/libsofthsm2.so
///     pinFile: /etc/offer-signer/offers.pin  # optional: for tokens with a PIN
///     refusalFile: /var/lib/offer-signer/offers.refused  # optional; default: beside the PIN file
///     sessions: 4                # optional; default: 4; the number of signatures at a time
/// rules:
///   win_back:
///     subscription: {status: expired, endedBecause: cancelled, endedAgo: {atLeast: 7d}}
/// callers:
///   - name: backend
///     tokenSHA256: 3b1f…         # printed by 'offer-signer tokens new'
///     scopes: [sign, explain]    # optional; default: sign
///     apps: [com.example.app]    # optional; default: all
///     expires: 2027-01-01        # optional; default: never; the token expires when that day begins, UTC
/// users:
///   - issuer: https://id.example.com/
///     audience: com.example.offers
///     jwks: https://id.example.com/jwks.json  # or the path of a file
///     algorithms: [RS256]        # optional; default: ES256 and RS256
///     applicationUsername: sub   # or hashedUsername, or appAccountToken
///     apps: [com.example.app]    # optional; default: all
///     sharesCustomers: true      # optional; default: false; true if another issuer of the app has the same customers
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
    /// The keys in PKCS#11 tokens.
    package private(set) var tokenKeys: [TokenKeySettings] = []
    package private(set) var callers: [Caller] = []
    package private(set) var userIssuers: [UserIssuer] = []

    package private(set) var limits = Limits()
    /// The rules of the file by name.
    package private(set) var rules: [String: Condition] = [:]
    /// True if an app has settings that need a database.
    package private(set) var needsStore = false

    /// A function that reads a secret from the file at a path.
    package typealias ReadSecret = (_ path: String) throws(Diagnostic) -> Secret

    /// The maximum file size, in bytes.
    package static let maximumSize = 16 * 1024 * 1024

    /// Creates an empty configuration.
    package init() {}

    /// - Parameters:
    ///   - name: the file name to use in error messages.
    ///   - readSecret: reads the secret files that the configuration names. By default, every read fails.
    /// - Returns: the settings that could be read, and every problem with its line.
    package static func read(
        _ text: [UInt8], name: String, readSecret: ReadSecret = Self.noSecrets
    ) -> (file: ConfigurationFile, problems: [Diagnostic]) {
        let (file, problems) = check(text, readSecret: readSecret)
        return (file, problems.map { $0.diagnostic(in: name) })
    }

    /// Reads a file as ``read(_:name:readSecret:)`` does.
    /// - Returns: the settings that could be read, and every problem with its place.
    package static func check(
        _ text: [UInt8], readSecret: ReadSecret
    ) -> (file: ConfigurationFile, problems: [FileProblem]) {
        let yaml = YAMLFile()
        var file = ConfigurationFile()
        if let root = yaml.compose(text) { file.read(root, digest: (try? SHA256.hash(text)) ?? [], readSecret) }
        return (file, yaml.problems)
    }

    private mutating func read(_ root: YAMLValue, digest: [UInt8], _ readSecret: ReadSecret) {
        let members = root.members("the configuration", known: ["apps", "callers", "keys", "users", "limits", "rules"])
        if members.isEmpty {
            root.report("this file lists no apps, callers or users", hint: "add some, or omit the file")
        }
        let rules = RulesReader(members["rules"], builtIn: BuiltInRules.conditions)
        if let value = members["apps"] {
            let apps = AppsReader.read(value, rules, readSecret)
            catalogue = Catalogue(apps: apps.apps, digest: digest)
            keyIDs = apps.keyIDs
            keyFingerprints = apps.keyFingerprints
            issuerIDs = apps.issuerIDs
            needsStore = apps.needsStore
        }
        self.rules = rules.named
        tokenKeys = members["keys"].map(TokenKeysReader.read) ?? []
        callers = members["callers"].map(CallersReader.read) ?? []
        limits = members["limits"].map(LimitsReader.read) ?? Limits()
        userIssuers = members["users"].map(UserIssuersReader.read) ?? []
    }

    package static func noSecrets(_ path: String) throws(Diagnostic) -> Secret {
        throw Diagnostic("\(path) cannot be read", hint: "put it there, or name another file")
    }
}
