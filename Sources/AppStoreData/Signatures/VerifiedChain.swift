package import OfferCrypto

/// A chain of certificates that ends in a trusted root.
package protocol CertificatePath: Sendable {
    var leaf: X509Certificate { get }
    /// The intermediate; nil in data signed by Xcode.
    var intermediate: X509Certificate? { get }
    /// The root; in data signed by Xcode, the leaf itself.
    var root: X509Certificate { get }
}

extension CertificatePath {
    /// True if Xcode signed the data, with its own certificate. Such data describes no purchase.
    package var isXcode: Bool { intermediate == nil }
}

/// The certificate chain of a JWS, which ends in a trusted root, and the key that signed the JWS.
package struct VerifiedChain: CertificatePath {
    package let leaf: X509Certificate
    package let intermediate: X509Certificate?
    package let root: X509Certificate
    /// The leaf's key.
    let key: VerifyingKey
}

extension VerifiedChain {
    /// Verifies the chain of a JWS: leaf, intermediate and a trusted root, both of Apple's markers, and a P-256 key.
    /// - Parameters:
    ///   - known: a verified chain with the same intermediate; nil if there is none. A known chain saves one P-384
    ///     verification, which takes libcrypto more than a millisecond.
    ///   - seconds: the effective date, in seconds since 1970.
    init(
        leaf: X509Certificate, intermediate: X509Certificate, roots: TrustedRoots, known: VerifiedChain? = nil,
        at seconds: Int64
    ) throws(VerificationFailure) {
        do throws(ChainError) {
            if let known {
                root = known.root
                try CertificateChain.verify(
                    leaf: leaf, verifiedIntermediate: intermediate, root: known.root, at: seconds)
            } else {
                root = try CertificateChain.verify(
                    leaf: leaf, intermediate: intermediate, roots: roots.certificates, at: seconds)
            }
        } catch { throw VerificationFailure(chain: error) }
        guard leaf.hasExtension(AppleMarker.receiptSigner) else {
            throw VerificationFailure(.certificateMarkerMissing, .leaf)
        }
        guard intermediate.hasExtension(AppleMarker.developerRelations) else {
            throw VerificationFailure(.certificateMarkerMissing, .intermediate)
        }
        guard let key = try? leaf.verifyingKey else { throw VerificationFailure(.leafKeyNotP256) }
        self.key = key
        self.leaf = leaf
        self.intermediate = intermediate
    }

    /// Accepts Xcode's signing certificate, which is its own root.
    init(xcode certificate: X509Certificate, roots: TrustedRoots) throws(VerificationFailure) {
        guard let root = roots.root(withDigest: certificate.digest) else { throw VerificationFailure(.rootNotTrusted) }
        guard let key = try? root.verifyingKey else { throw VerificationFailure(.leafKeyNotP256) }
        self.key = key
        self.root = root
        leaf = root
        intermediate = nil
    }

    /// Checks the validity periods again, for other data signed with the same key.
    /// - Returns: the chain itself.
    func valid(at seconds: Int64) throws(VerificationFailure) -> VerifiedChain {
        do throws(ChainError) {
            try leaf.checkValidity(as: .leaf, at: seconds)
            try intermediate?.checkValidity(as: .intermediate, at: seconds)
            try root.checkValidity(as: .root, at: seconds)
        } catch { throw VerificationFailure(chain: error) }
        return self
    }
}
