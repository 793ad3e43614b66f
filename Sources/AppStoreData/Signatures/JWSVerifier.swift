import OfferCore
import OfferCrypto

/// The verifier of all data that Apple signs as a JWS.
///
/// It verifies only the signer: the app and the environment are checked afterwards. It never checks revocation itself,
/// but refuses the certificates passed to ``KnownChains/revoke(_:)``.
package struct JWSVerifier: Sendable {
    private let roots: TrustedRoots
    private let allowsXcode: Bool
    package let knownChains: KnownChains

    /// The maximum number of members in an object or elements in an array. A summary of a renewal extension lists up to
    /// 175 storefronts.
    private static let maximumCount = 1024

    /// - Parameters:
    ///   - knownChains: chains verified with the same roots.
    ///   - allowsXcode: true if a root may sign data itself, as Xcode's StoreKit certificate does; for development
    ///     only.
    package init(roots: TrustedRoots = .apple, knownChains: KnownChains = KnownChains(), allowsXcode: Bool = false) {
        self.roots = roots
        self.knownChains = knownChains
        self.allowsXcode = allowsXcode
    }

    /// - Parameter text: the JWS in compact form.
    package func verify(_ text: [UInt8], at date: EffectiveDate) throws(VerificationFailure) -> VerifiedPayload {
        let jws = try SignedJWS(text)
        // The same header contains the same certificates, so the header of a verified JWS is not read again.
        let known = knownChains.chain(withHeader: jws.header)
        let certificates = known == nil ? try jws.certificates : []
        let (payload, signature) = (try jws.payload, try jws.signature)
        let members = try members(of: payload)
        let seconds = try date.seconds(for: members)
        let chain =
            if let known { try known.valid(at: seconds) } else { try chain(of: certificates, at: seconds) }
        guard try chain.verifies(signature, of: jws.signingInput) else {
            throw VerificationFailure(.signatureInvalid)
        }
        if known == nil { knownChains.note(jws, signature, of: chain) }
        return VerifiedPayload(bytes: payload, members: members, chain: chain, effectiveDate: seconds)
    }

    private func members(of payload: [UInt8]) throws(VerificationFailure) -> JSONObject {
        guard case .object(let members) = try? JSONReader.read(payload, maximumCount: Self.maximumCount) else {
            throw VerificationFailure(.payloadNotJSON)
        }
        return members
    }

    private func chain(of certificates: [[UInt8]], at seconds: Int64) throws(VerificationFailure) -> VerifiedChain {
        guard certificates.count == 3 else { return try xcodeChain(of: certificates, at: seconds) }
        let (leaf, intermediate) = (certificates[0], certificates[1])
        let digest = try hash(intermediate)
        if let known = knownChains.chain(leaf: try hash(leaf), intermediate: digest) {
            return try known.valid(at: seconds)
        }
        let chain = try VerifiedChain(
            leaf: certificate(leaf, .leaf), intermediate: certificate(intermediate, .intermediate), roots: roots,
            known: knownChains.chain(intermediate: digest), at: seconds)
        if let role = knownChains.remember(chain) { throw VerificationFailure(.certificateRevoked, role) }
        return chain
    }

    private func xcodeChain(
        of certificates: [[UInt8]], at seconds: Int64
    ) throws(VerificationFailure) -> VerifiedChain {
        guard allowsXcode, certificates.count == 1 else { throw VerificationFailure(.certificateCount) }
        return try VerifiedChain(xcode: certificate(certificates[0], .leaf), roots: roots).valid(at: seconds)
    }

    private func certificate(_ der: [UInt8], _ role: CertificateRole) throws(VerificationFailure) -> X509Certificate {
        do { return try X509Certificate(der: der) } catch { throw VerificationFailure(.certificateUnreadable, role) }
    }

    private func hash(_ der: [UInt8]) throws(VerificationFailure) -> [UInt8] {
        do { return try SHA256.hash(der) } catch { throw VerificationFailure(.verificationUnavailable) }
    }
}

extension VerifiedChain {
    /// Returns true if the leaf's key created the signature.
    fileprivate func verifies(_ signature: RawSignature, of input: [UInt8]) throws(VerificationFailure) -> Bool {
        do { return try key.verify(signature.der, of: input) } catch {
            throw VerificationFailure(.verificationUnavailable)
        }
    }
}
