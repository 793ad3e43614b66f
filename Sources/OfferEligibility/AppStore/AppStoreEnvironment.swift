import OfferCore

/// The environment of a purchase or of an installed app.
///
/// The same certificate signs `Sandbox` and `Production` data, so only this value distinguishes them.
package struct AppStoreEnvironment: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let production = Self(rawValue: "Production")
    /// Includes TestFlight and App Review.
    package static let sandbox = Self(rawValue: "Sandbox")
    /// StoreKit testing in Xcode. Xcode signs this data itself.
    package static let xcode = Self(rawValue: "Xcode")
    /// Tests with Apple's server libraries. Apple does not sign this data either.
    package static let localTesting = Self(rawValue: "LocalTesting")

    package static let known: [Self] = [.production, .sandbox, .xcode, .localTesting]

    /// True if Apple does not sign the data, so it describes no real purchase.
    package var isDevelopmentOnly: Bool { self == .xcode || self == .localTesting }
}
