package import OfferCrypto

/// The certificate chain of a receipt, which ends in a trusted root.
package struct ReceiptChain: CertificatePath {
    package let leaf: X509Certificate
    package let intermediate: X509Certificate?
    package let root: X509Certificate

    /// - Parameters:
    ///   - leaf: the signer's certificate.
    ///   - enclosed: the certificates in the receipt, including the intermediate.
    ///   - seconds: the receipt's creation date, in seconds since 1970.
    init(
        leaf: X509Certificate, enclosed: [X509Certificate], roots: TrustedRoots, at seconds: Int64
    ) throws(VerificationFailure) {
        if let root = roots.root(withDigest: leaf.digest) {
            try self.init(xcode: root, at: seconds)
        } else {
            try self.init(leaf, enclosed, roots, at: seconds)
        }
    }

    /// Accepts Xcode's signing certificate, which is its own root.
    private init(xcode root: X509Certificate, at seconds: Int64) throws(VerificationFailure) {
        guard root.notBefore <= seconds else { throw VerificationFailure(.certificateNotYetValid, .root) }
        guard seconds <= root.notAfter else { throw VerificationFailure(.certificateExpired, .root) }
        (leaf, intermediate, self.root) = (root, nil, root)
    }

    private init(
        _ leaf: X509Certificate, _ enclosed: [X509Certificate], _ roots: TrustedRoots, at seconds: Int64
    ) throws(VerificationFailure) {
        guard leaf.hasExtension(AppleMarker.receiptSigner) else {
            throw VerificationFailure(.certificateMarkerMissing, .leaf)
        }
        // Apple had two intermediates with the same name and key from 2013 to 2016, so a receipt may contain more than
        // one.
        var failure = VerificationFailure(.intermediateMissing)
        for intermediate in enclosed where intermediate.isNamedIssuer(of: leaf) {
            do {
                root = try Self.root(leaf, intermediate, roots, at: seconds)
                (self.leaf, self.intermediate) = (leaf, intermediate)
                return
            } catch { failure = error }
        }
        throw failure
    }

    private static func root(
        _ leaf: X509Certificate, _ intermediate: X509Certificate, _ roots: TrustedRoots, at seconds: Int64
    ) throws(VerificationFailure) -> X509Certificate {
        guard intermediate.hasExtension(AppleMarker.developerRelations) else {
            throw VerificationFailure(.certificateMarkerMissing, .intermediate)
        }
        do throws(ChainError) {
            return try CertificateChain.verify(
                leaf: leaf, intermediate: intermediate, roots: roots.certificates, at: seconds, allowsSHA1: true)
        } catch { throw VerificationFailure(chain: error) }
    }
}
