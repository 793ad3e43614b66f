package import Logging
package import OfferAudit
package import OfferCore
import OfferEligibility
package import OfferHTTP
package import OfferTelemetry
package import SubscriberStore

/// Every setting, declared once. Flags, `--help`, the check for unknown variables, the reload rules and the
/// documentation tests derive from these declarations.
package enum Settings {
    // MARK: Keys

    package static let keyID = Setting<KeyID?>(
        "KEY_ID", flag: "key-id", "ID of the signing key", default: nil, nil, reload: .onReload, parse: Parse.keyID)
    package static let keyFingerprint = Setting<String?>(
        "KEY_FINGERPRINT", "SHA-256 of the signing key's public half, which it must have", default: nil, nil,
        reload: .onReload, parse: Parse.keyFingerprint)
    package static let bundleKeyIDs = Setting<[BundleID: KeyID]>(
        "BUNDLE_KEY_IDS", "Keys of individual apps", default: [:], nil, reload: .onReload, parse: Parse.bundleKeyIDs)
    package static let privateKey = Setting<Secret?>(
        "PRIVATE_KEY", "Text of the signing key", default: nil, nil, isSecret: true, reload: .onReload,
        parse: Parse.secret)
    package static let retiredKeyIDs = Setting<Set<KeyID>>(
        "RETIRED_KEY_IDS", "Keys that never sign again", default: [], nil, reload: .onReload, parse: Parse.keyIDs)
    package static let keysDirectory = Setting<String?>(
        "KEYS_DIR", flag: "keys-dir", "Folder with the SubscriptionKey_<KEYID>.p8 files", default: nil, "keys",
        reload: .onReload, parse: Parse.path)
    package static let allowReadableKeys = Setting<Bool>(
        "ALLOW_READABLE_KEYS", flag: "allow-readable-keys",
        "Accept key files that are readable by others, as container secrets often are", isSwitch: .onReload)
    package static let issuerID = Setting<IssuerID?>(
        "ISSUER_ID", flag: "issuer-id", "Issuer ID of the team, which every JWS contains", default: nil, nil,
        reload: .onReload, parse: Parse.issuerID)

    // MARK: Callers

    package static let configurationFile = Setting<String?>(
        "CONFIG", flag: "config", "YAML file with apps, their offers, and callers", default: nil, nil,
        reload: .onReload, parse: Parse.path)
    package static let environmentFile = Setting<String?>(
        "ENV_FILE", flag: "env-file", "File of NAME=value lines that override the environment", default: nil, nil,
        reload: .onRestart, parse: Parse.path)
    package static let tokens = Setting<[Caller]>(
        "API_TOKENS", "Callers with their tokens", default: [], nil, isSecret: true, refusesEmpty: true,
        reload: .onReload, parse: Parse.callers)
    package static let usernameSalt = Setting<Secret?>(
        "USERNAME_SALT", "Key for hashing users' usernames", default: nil, nil, isSecret: true,
        reload: .onReload, parse: Parse.longSecret)

    // MARK: Listening

    package static let host = Setting<String>(
        "HOST", flag: "host", "Address to listen on", default: "127.0.0.1", "127.0.0.1", reload: .onRestart,
        parse: Parse.text)
    package static let port = Setting<Int>(
        "PORT", flag: "port", "Port to listen on, 0 for any free port", default: 8080, "8080", reload: .onRestart,
        parse: Parse.port)
    package static let metricsAddress = Setting<ListeningAddress?>(
        "METRICS_ADDRESS", flag: "metrics-address",
        "Address and port for metrics and health only, such as 127.0.0.1:9464", default: nil,
        "/metrics is served at the main address", reload: .onRestart, parse: Parse.listeningAddress)
    package static let reusePort = Setting<Bool>(
        "REUSE_PORT", flag: "reuse-port", "Let another process listen on the same port", isSwitch: .onRestart)
    package static let tlsCertificate = Setting<String?>(
        "TLS_CERTIFICATE", flag: "tls-certificate", "PEM file with the certificate chain for TLS", default: nil, nil,
        reload: .onReload, parse: Parse.path)
    package static let tlsKey = Setting<String?>(
        "TLS_KEY", flag: "tls-key", "PEM file with the private key for TLS", default: nil, nil, reload: .onReload,
        parse: Parse.path)
    package static let behindProxy = Setting<Bool>(
        "BEHIND_PROXY", flag: "behind-proxy",
        "Serve other machines over plain HTTP, because every request passes through a proxy that speaks TLS",
        isSwitch: .onReload)
    package static let trustedProxies = Setting<[TrustedProxies.Network]>(
        "TRUSTED_PROXIES", flag: "trusted-proxies",
        "Addresses and networks of proxies whose X-Forwarded-For is trusted, such as 192.0.2.1,198.51.100.0/28",
        default: [], nil, reload: .onReload, parse: Parse.networks)
    package static let allowAnyone = Setting<Bool>(
        "ALLOW_ANYONE", flag: "allow-anyone", "Serve anyone on other machines even if no caller is configured",
        isSwitch: .onReload)

    package static let bufferMiB = Setting<Int>(
        "BUFFER_MIB", "Mebibytes of memory for connections, requests and responses", default: 64, "64",
        reload: .onRestart, parse: Parse.mebibytes)

    // MARK: App Store data

    package static let appStoreRoots = Setting<String?>(
        "APP_STORE_ROOTS",
        "File or folder of certificates, in PEM or DER, to trust for App Store data in place of Apple's; for tests and Xcode",
        default: nil, nil, reload: .onRestart, parse: Parse.path)
    package static let ocsp = Setting<OCSPMode?>(
        "OCSP", "Ask Apple's OCSP responders whether certificates of App Store data are revoked: on or off",
        default: nil, "on; off with roots of your own", reload: .onRestart, parse: Parse.optionalChoice)

    // MARK: App Store Server API

    package static let appStoreAPI = Setting<AppStoreAPIMode?>(
        "APP_STORE_API", "Ask the App Store about subscriptions and missed notifications: on or off", default: nil,
        "on; off with roots of your own, unless a URL is set, and with --development", reload: .onRestart,
        parse: Parse.optionalChoice)
    package static let appStoreAPIURL = Setting<String?>(
        "APP_STORE_API_URL", "Base URL of the App Store Server API", default: nil, "https://api.storekit.apple.com",
        reload: .onRestart, parse: Parse.baseURL)
    package static let appStoreSandboxAPIURL = Setting<String?>(
        "APP_STORE_SANDBOX_API_URL", "Base URL of the App Store Server API of the sandbox", default: nil,
        "https://api.storekit-sandbox.apple.com", reload: .onRestart, parse: Parse.baseURL)
    package static let verifyReceiptURL = Setting<String?>(
        "VERIFY_RECEIPT_URL", "Base URL of the legacy receipt service", default: nil, "https://buy.itunes.apple.com",
        reload: .onRestart, parse: Parse.baseURL)
    package static let sandboxVerifyReceiptURL = Setting<String?>(
        "SANDBOX_VERIFY_RECEIPT_URL", "Base URL of the legacy receipt service of the sandbox", default: nil,
        "https://sandbox.itunes.apple.com", reload: .onRestart, parse: Parse.baseURL)
    package static let appStoreAPIRoots = Setting<String?>(
        "APP_STORE_API_ROOTS",
        "PEM file of certificates to trust for the servers at these URLs, beside the system's; for tests", default: nil,
        nil, reload: .onRestart, parse: Parse.path)

    package static let appStoreWaitMilliseconds = Setting<Int>(
        "APP_STORE_WAIT_MS", "Milliseconds for which a request waits for the App Store", default: 800, "800",
        reload: .onRestart, parse: Parse.waitMilliseconds)

    // MARK: Subscribers

    package static let database = Setting<StoreLocation?>(
        "DATABASE", flag: "database", "Database of subscribers: sqlite:PATH", default: nil,
        "sqlite:data/offer-signer.sqlite if the configuration needs one", reload: .onRestart, parse: Parse.storeLocation
    )
    package static let payloadDays = Setting<Int>(
        "PAYLOAD_DAYS", "Days for which notifications are kept as received", default: 180, "180", reload: .onRestart,
        parse: Parse.days)
    package static let notificationsAddress = Setting<ListeningAddress?>(
        "NOTIFICATIONS_ADDRESS", flag: "notifications-address",
        "Address and port for App Store notifications only, such as 0.0.0.0:8443", default: nil,
        "notifications are received at the main address", reload: .onRestart, parse: Parse.listeningAddress)
    package static let retentionDeadline = Setting<Duration>(
        "RETENTION_DEADLINE_MS", "Milliseconds after which a retention message is answered without a decision",
        default: .milliseconds(300), "300", reload: .onRestart, parse: Parse.retentionDeadline)
    package static let forwardKey = Setting<Secret?>(
        "FORWARD_KEY", "Key for the signatures of forwarded notifications", default: nil, nil, isSecret: true,
        reload: .onRestart, parse: Parse.longSecret)
    package static let forwardRoots = Setting<String?>(
        "FORWARD_ROOTS",
        "PEM file of certificates to trust for receivers of forwarded notifications, beside the system's",
        default: nil, nil, reload: .onRestart, parse: Parse.path)

    // MARK: Recording

    package static let auditLog = Setting<String?>(
        "AUDIT_LOG", flag: "audit-log", "File of the audit trail, which records every signature", default: nil,
        nil,
        reload: .onRestart, parse: Parse.path)
    package static let auditKey = Setting<Secret?>(
        "AUDIT_KEY", "Key for the codes that represent customers in the audit trail", default: nil, nil, isSecret: true,
        reload: .onRestart, parse: Parse.longSecret)
    package static let auditSync = Setting<Bool>(
        "AUDIT_SYNC", flag: nil, "Sync the audit trail to disk before responses are sent", isSwitch: .onRestart)
    package static let auditRotateMB = Setting<Int64?>(
        "AUDIT_ROTATE_MB", "Size in megabytes at which the audit trail is rotated", default: nil, nil,
        reload: .onRestart, parse: Parse.megabytes)
    package static let auditChain = Setting<AuditSettings.Chain>(
        "AUDIT_CHAIN",
        "How audit lines are linked: sha256, or hmac, which only holders of SUBSCRIPTION_OFFERS_AUDIT_KEY can forge",
        default: .sha256, "sha256", reload: .onRestart, parse: Parse.choice)
    package static let auditAddresses = Setting<AuditSettings.Addresses>(
        "AUDIT_ADDRESSES", "Clients' addresses in the audit trail: hmac, plain or off", default: .hmac, "hmac",
        reload: .onRestart, parse: Parse.choice)
    package static let logLevel = Setting<Logger.Level>(
        "LOG_LEVEL", flag: "log-level",
        "Least severe level to log: trace, debug, info, notice, warning, error or critical", default: .info,
        "info", reload: .onReload, parse: Parse.choice)
    package static let logFormat = Setting<LogFormat>(
        "LOG_FORMAT", flag: "log-format", "Format of log lines: text or json", default: .text, "text",
        reload: .onRestart, parse: Parse.choice)

    /// Every setting, in documentation order.
    package static let all: [any SettingDeclaration] = [
        keyID, keyFingerprint, bundleKeyIDs, privateKey, retiredKeyIDs, keysDirectory, allowReadableKeys, issuerID,
        configurationFile, environmentFile, tokens, usernameSalt, host, port, metricsAddress, reusePort, tlsCertificate,
        tlsKey, behindProxy, trustedProxies, allowAnyone, bufferMiB, appStoreRoots, ocsp, appStoreAPI, appStoreAPIURL,
        appStoreSandboxAPIURL, verifyReceiptURL, sandboxVerifyReceiptURL, appStoreAPIRoots, appStoreWaitMilliseconds,
        database, payloadDays, notificationsAddress, retentionDeadline, forwardKey, forwardRoots, auditLog, auditKey,
        auditSync,
        auditRotateMB,
        auditChain, auditAddresses, logLevel, logFormat,
    ]

    /// The settings of the audit trail.
    static let ofAudit: [any SettingDeclaration] = [
        auditLog, auditKey, auditSync, auditRotateMB, auditChain, auditAddresses,
    ]

    /// True if a variable with this name was meant for the service, even if the name is misspelled. If it is not the
    /// name of a setting, the service refuses to start.
    static func isOurs(_ variable: String) -> Bool {
        let variable = variable.uppercased()
        return variable.hasPrefix("SUBSCRIPTION") && variable.contains("OFFER")
    }
}

extension Setting where Value == Bool {
    /// Declares a switch that is off by default.
    fileprivate init(_ name: String, flag: String?, _ summary: String, isSwitch reload: ReloadRule) {
        self.init(
            name, flag: flag, summary, default: false, nil, isSwitch: true, reload: reload, parse: Parse.switch)
    }
}
