import OfferCore

/// The environment of a purchase or of an installed app.
///
/// `Sandbox` and `Production` data are signed by the same certificate, so only this value tells them apart.
package struct AppStoreEnvironment: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let production = Self(rawValue: "Production")
    /// Includes TestFlight and App Review.
    package static let sandbox = Self(rawValue: "Sandbox")
    /// StoreKit testing in Xcode. Xcode signs this data itself.
    package static let xcode = Self(rawValue: "Xcode")
    /// The tests of Apple's server libraries. This data is not signed by Apple either.
    package static let localTesting = Self(rawValue: "LocalTesting")

    package static let known: [Self] = [.production, .sandbox, .xcode, .localTesting]

    /// True if someone other than Apple signs its data, so it describes no purchase.
    package var isDevelopmentOnly: Bool { self == .xcode || self == .localTesting }
}
