/// The environment variables of the service.
package enum Variable: String, CaseIterable, Sendable {
    case keyID = "SUBSCRIPTION_OFFERS_KEY_ID"
    case privateKey = "SUBSCRIPTION_OFFERS_PRIVATE_KEY"
    case bundleKeyIDs = "SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS"
    case retiredKeyIDs = "SUBSCRIPTION_OFFERS_RETIRED_KEY_IDS"
    case issuerID = "SUBSCRIPTION_OFFERS_ISSUER_ID"
    case keysDirectory = "SUBSCRIPTION_OFFERS_KEYS_DIR"
    case allowReadableKeys = "SUBSCRIPTION_OFFERS_ALLOW_READABLE_KEYS"
    case tokens = "SUBSCRIPTION_OFFERS_API_TOKENS"
    case usernameSalt = "SUBSCRIPTION_OFFERS_USERNAME_SALT"
    case configurationFile = "SUBSCRIPTION_OFFERS_CONFIG"
    case environmentFile = "SUBSCRIPTION_OFFERS_ENV_FILE"
    case auditLog = "SUBSCRIPTION_OFFERS_AUDIT_LOG"
    case auditKey = "SUBSCRIPTION_OFFERS_AUDIT_KEY"
    case auditSync = "SUBSCRIPTION_OFFERS_AUDIT_SYNC"
    case auditRotateMB = "SUBSCRIPTION_OFFERS_AUDIT_ROTATE_MB"
    case host = "SUBSCRIPTION_OFFERS_HOST"
    case port = "SUBSCRIPTION_OFFERS_PORT"
    case metricsAddress = "SUBSCRIPTION_OFFERS_METRICS_ADDRESS"
    case reusePort = "SUBSCRIPTION_OFFERS_REUSE_PORT"
    case tlsCertificate = "SUBSCRIPTION_OFFERS_TLS_CERTIFICATE"
    case tlsKey = "SUBSCRIPTION_OFFERS_TLS_KEY"
    case behindProxy = "SUBSCRIPTION_OFFERS_BEHIND_PROXY"
    case trustedProxies = "SUBSCRIPTION_OFFERS_TRUSTED_PROXIES"
    case allowAnyone = "SUBSCRIPTION_OFFERS_ALLOW_ANYONE"
    case logLevel = "SUBSCRIPTION_OFFERS_LOG_LEVEL"
    case logFormat = "SUBSCRIPTION_OFFERS_LOG_FORMAT"

    /// Whether a variable of this name was meant for us, rightly spelt or not; one that we do not know is a mistake worth
    /// stopping for.
    static func isMeant(_ name: String) -> Bool {
        let name = name.uppercased()
        return name.hasPrefix("SUBSCRIPTION") && name.contains("OFFER")
    }
}
