import OfferCore
import OfferCrypto

/// The verifier of everything that Apple signs as a JWS.
///
/// It verifies who signed, not what: the checks of the app and the environment come after it. It never checks
/// revocation, but refuses what ``KnownChains/revoke(_:)`` has been told.
package struct JWSVerifier: Sendable {
    private let roots: TrustedRoots
    private let allowsXcode: Bool
    package let knownChains: KnownChains

    /// The maximum number of members or elements. A summary of a renewal extension lists up to 175 storefronts.
    private static let maximumCount = 1024

    /// - Parameters:
    ///   - knownChains: verified with the same roots.
    ///   - allowsXcode: whether a root may sign data itself, as Xcode's StoreKit certificate does; for development only.
    package init(roots: TrustedRoots = .apple, knownChains: KnownChains = KnownChains(), allowsXcode: Bool = false) {
        self.roots = roots
        self.knownChains = knownChains
        self.allowsXcode = allowsXcode
    }

    /// - Parameter text: the JWS in compact form.
    package func verify(_ text: [UInt8], at date: EffectiveDate) throws(VerificationFailure) -> VerifiedPayload {
        let jws = try SignedJWS(text)
        guard case .object(let members) = try? JSONReader.read(jws.payload, maximumCount: Self.maximumCount) else {
            throw VerificationFailure(.payloadNotJSON)
        }
        let seconds =
            switch date {
            case .at(let seconds): seconds
            case .ofSigning(let otherwise): try SigningDate.seconds(in: members) ?? otherwise
            }
        let chain = try chain(of: jws, at: seconds)
        guard try chain.verifies(jws) else { throw VerificationFailure(.signatureInvalid) }
        return VerifiedPayload(bytes: jws.payload, members: members, chain: chain, effectiveDate: seconds)
    }

    private func chain(of jws: SignedJWS, at seconds: Int64) throws(VerificationFailure) -> VerifiedChain {
        guard jws.certificates.count == 3 else { return try xcodeChain(of: jws, at: seconds) }
        let (leaf, intermediate) = (jws.certificates[0], jws.certificates[1])
        if let known = knownChains.chain(leaf: try hash(leaf), intermediate: try hash(intermediate)) {
            try known.checkValidity(at: seconds)
            return known
        }
        let chain = try VerifiedChain(
            leaf: certificate(leaf, .leaf), intermediate: certificate(intermediate, .intermediate), roots: roots,
            at: seconds)
        if let role = knownChains.remember(chain) { throw VerificationFailure(.certificateRevoked, role) }
        return chain
    }

    private func xcodeChain(of jws: SignedJWS, at seconds: Int64) throws(VerificationFailure) -> VerifiedChain {
        guard allowsXcode else { throw VerificationFailure(.certificateCount) }
        let chain = try VerifiedChain(xcode: certificate(jws.certificates[0], .leaf), roots: roots)
        try chain.checkValidity(at: seconds)
        return chain
    }

    private func certificate(_ der: [UInt8], _ role: CertificateRole) throws(VerificationFailure) -> X509Certificate {
        do { return try X509Certificate(der: der) } catch { throw VerificationFailure(.certificateUnreadable, role) }
    }

    private func hash(_ der: [UInt8]) throws(VerificationFailure) -> [UInt8] {
        do { return try SHA256.hash(der) } catch { throw VerificationFailure(.verificationUnavailable) }
    }
}

extension VerifiedChain {
    /// Whether the leaf's key signed the first two parts of a JWS.
    fileprivate func verifies(_ jws: SignedJWS) throws(VerificationFailure) -> Bool {
        do { return try key.verify(jws.signature.der, of: Array(jws.signingInput)) } catch {
            throw VerificationFailure(.verificationUnavailable)
        }
    }
}
