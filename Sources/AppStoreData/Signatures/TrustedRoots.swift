package import OfferCrypto

/// The roots that anchor App Store data: Apple's roots, or an operator's own roots instead.
package struct TrustedRoots: Sendable {
    package let certificates: [X509Certificate]

    /// Apple's roots.
    package static let apple = TrustedRoots(AppleRoots.certificates)

    /// - Parameter certificates: the trusted roots. If there are none, no data is trusted.
    package init(_ certificates: [X509Certificate]) { self.certificates = certificates }

    /// Returns the root with this SHA-256 digest.
    func root(withDigest digest: [UInt8]) -> X509Certificate? { certificates.first { $0.digest == digest } }
}
