import OfferCore
package import OfferEligibility

/// The base URLs of the App Store Server API, without a trailing slash.
package struct APIHosts: Hashable, Sendable {
    package let production: String
    package let sandbox: String

    /// - Parameters: the base URLs; nil means Apple's URL.
    package init(production: String? = nil, sandbox: String? = nil) {
        self.production = production ?? Self.appleProduction
        self.sandbox = sandbox ?? Self.appleSandbox
    }

    private static let appleProduction = "https://api.storekit.apple.com"
    private static let appleSandbox = "https://api.storekit-sandbox.apple.com"

    /// - Returns: nil for an environment without a server, such as Xcode.
    package subscript(environment: AppStoreEnvironment) -> String? {
        switch environment {
        case .production: production
        case .sandbox: sandbox
        default: nil
        }
    }
}
