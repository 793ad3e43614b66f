/// The reason a payload with a valid signature is not accepted. The raw values are stable codes.
package enum CheckFailure: String, CaseIterable, Error, Hashable, Sendable {
    case anotherBundleID = "another_bundle_id"
    case bundleIDMissing = "bundle_id_missing"
    case anotherAppAppleID = "another_app_apple_id"
    case appAppleIDMissing = "app_apple_id_missing"
    case environmentMissing = "environment_missing"
    case environmentNotAccepted = "environment_not_accepted"
    case anotherSubscription = "another_subscription"

    package var code: String { rawValue }

    package var sentence: String {
        switch self {
        case .anotherBundleID: "The bundle ID is that of another app."
        case .bundleIDMissing: "The bundle ID is missing."
        case .anotherAppAppleID: "The app's Apple ID is that of another app."
        case .appAppleIDMissing: "The app's Apple ID is missing, although the data is from production."
        case .environmentMissing: "The environment is missing, so the data may be from the sandbox."
        case .environmentNotAccepted: "Data from this environment is not accepted here."
        case .anotherSubscription: "The renewal info and the transaction beside it belong to different subscriptions."
        }
    }

    /// The status with which Apple's server libraries report the failure; nil for a check that they do not make.
    package var appleStatus: String? {
        switch self {
        case .anotherBundleID, .bundleIDMissing, .anotherAppAppleID, .appAppleIDMissing: "INVALID_APP_IDENTIFIER"
        case .environmentMissing, .environmentNotAccepted: "INVALID_ENVIRONMENT"
        case .anotherSubscription: nil
        }
    }
}
