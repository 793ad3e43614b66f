/// The reason that a payload with a valid signature is not accepted. The raw values are stable codes.
package enum CheckFailure: String, CaseIterable, Error, Hashable, Sendable {
    case anotherBundleID = "another_bundle_id"
    case bundleIDMissing = "bundle_id_missing"
    case anotherAppAppleID = "another_app_apple_id"
    case appAppleIDMissing = "app_apple_id_missing"
    case environmentMissing = "environment_missing"
    case environmentNotAccepted = "environment_not_accepted"
    case anotherSubscription = "another_subscription"
    case transactionMissing = "transaction_missing"
    case severalEnvironments = "several_environments"
    case severalAppleAccounts = "several_apple_accounts"
    case tooManyPurchases = "too_many_purchases"
    case notFromAppStore = "not_from_app_store"
    case noApp = "no_app"

    package var code: String { rawValue }

    package var sentence: String {
        switch self {
        case .anotherBundleID: "The bundle ID belongs to another app."
        case .bundleIDMissing: "The bundle ID is missing."
        case .anotherAppAppleID: "The app's Apple ID belongs to another app."
        case .appAppleIDMissing: "The app's Apple ID is missing, although the data is from production."
        case .environmentMissing: "The environment is missing, so the data may be from the sandbox."
        case .environmentNotAccepted: "Data from this environment is not accepted here."
        case .anotherSubscription:
            "The renewal info and the transaction sent with it belong to different subscriptions."
        case .transactionMissing:
            "Renewal info is accepted only with a transaction of the same subscription, which is missing."
        case .severalEnvironments: "The proofs are from several environments."
        case .severalAppleAccounts: "The proofs belong to several Apple Accounts."
        case .tooManyPurchases: "The proofs show more than 250 subscriptions and other purchases."
        case .noApp: "No offer in the list can be read, so the app of the proofs is unknown."
        case .notFromAppStore: "Xcode signed the data, but the data claims to be from the App Store."
        }
    }
}
