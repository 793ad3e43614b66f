/// The environment variables of the service.
package enum Variable: String, CaseIterable, Sendable {
    case keyID = "SUBSCRIPTION_OFFERS_KEY_ID"
    case privateKey = "SUBSCRIPTION_OFFERS_PRIVATE_KEY"
    case bundleKeyIDs = "SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS"
    case retiredKeyIDs = "SUBSCRIPTION_OFFERS_RETIRED_KEY_IDS"
    case keysDirectory = "SUBSCRIPTION_OFFERS_KEYS_DIR"
    case allowReadableKeys = "SUBSCRIPTION_OFFERS_ALLOW_READABLE_KEYS"
    case environmentFile = "SUBSCRIPTION_OFFERS_ENV_FILE"
    case host = "SUBSCRIPTION_OFFERS_HOST"
    case port = "SUBSCRIPTION_OFFERS_PORT"
    case reusePort = "SUBSCRIPTION_OFFERS_REUSE_PORT"

    /// Every variable that begins with this is ours; one that we do not know is a mistake worth stopping for.
    package static let prefix = "SUBSCRIPTION_OFFERS_"
}
