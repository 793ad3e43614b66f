package import AppStoreData
package import OfferCore
import OfferEligibility

/// The rules for trusting App Store data.
package struct AppStoreSettings: Sendable {
    /// The root certificates to trust instead of Apple's; nil to trust Apple's.
    package let ownRoots: TrustedRoots?
    /// True if OCSP responders are queried about revoked certificates.
    package let usesOCSP: Bool
    /// True if a root may sign data itself, as Xcode's root does.
    package let isDevelopment: Bool

    /// - Parameter ocsp: nil for the default, which is on only for Apple's roots: other roots have no reachable
    ///   responders.
    package init(roots: TrustedRoots? = nil, ocsp: OCSPMode? = nil, isDevelopment: Bool = false) {
        ownRoots = roots
        usesOCSP = (ocsp ?? (roots == nil ? .on : .off)) == .on
        self.isDevelopment = isDevelopment
    }

    /// A problem if roots other than Apple's are trusted, because anyone with their keys can forge purchases.
    package var problems: [Diagnostic] {
        guard let ownRoots else { return [] }
        return [
            Diagnostic(
                """
                \(Settings.appStoreRoots.variable) is set, so data of \(ownRoots.certificates.count) roots other than Apple's \
                is accepted, and Apple's is not
                """,
                hint: "set it only for tests")
        ]
    }
}

/// The values of `SUBSCRIPTION_OFFERS_OCSP`.
package enum OCSPMode: String, CaseIterable, Sendable {
    case on, off
}
