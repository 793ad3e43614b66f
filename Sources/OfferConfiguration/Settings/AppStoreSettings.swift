package import AppStoreData
package import OfferCore
import OfferEligibility

/// The rules for trusting App Store data.
package struct AppStoreSettings: Sendable {
    /// The certificates that are trusted in place of Apple's; nil for Apple's.
    package let ownRoots: TrustedRoots?
    /// True if OCSP responders are queried about revoked certificates.
    package let usesOCSP: Bool
    /// True if a root may sign data itself, as Xcode does.
    package let isDevelopment: Bool

    /// - Parameter ocsp: nil for the default: only Apple's roots have responders that can be reached.
    package init(roots: TrustedRoots? = nil, ocsp: OCSPMode? = nil, isDevelopment: Bool = false) {
        ownRoots = roots
        usesOCSP = (ocsp ?? (roots == nil ? .on : .off)) == .on
        self.isDevelopment = isDevelopment
    }

    /// A problem if roots other than Apple's are trusted. Forged purchases would count.
    package var problems: [Diagnostic] {
        guard let ownRoots else { return [] }
        return [
            Diagnostic(
                """
                \(Settings.appStoreRoots.variable) is set, so data of \(ownRoots.certificates.count) roots other than Apple's \
                is accepted, and Apple's is not
                """,
                hint: "unset it for anything but tests")
        ]
    }
}

/// The values of `SUBSCRIPTION_OFFERS_OCSP`.
package enum OCSPMode: String, CaseIterable, Sendable {
    case on, off
}
