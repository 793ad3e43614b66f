import NIOConcurrencyHelpers
import OfferCore
package import OfferCrypto

/// A cache of verified chains, so that more data signed with the same certificate needs only one signature
/// verification.
///
/// Only chains that end in a trusted root are stored, and Apple changes its certificates every one or two years. The
/// limit is for operators with their own roots, which may issue more certificates.
package final class KnownChains: Sendable {
    /// The maximum number of remembered pairs of leaf and intermediate.
    package static let maximumCount = 32
    /// The maximum number of revoked certificates to remember.
    static let maximumRevokedCount = 256

    fileprivate struct Entry {
        let chain: VerifiedChain
        /// The header of the last JWS that the chain signed, in base64url.
        var header: [UInt8] = []
        /// A JWS that the chain signed, kept until the key is precomputed.
        var sample: Sample?
    }

    fileprivate struct Sample {
        /// The signature in ASN.1 DER.
        let signature: [UInt8]
        let signingInput: [UInt8]
    }

    fileprivate struct State {
        /// The chains, most recently used last.
        var entries: [Entry] = []
        /// The identities of revoked certificates.
        var revoked: [[UInt8]] = []
    }

    /// The maximum size of a header to remember, in bytes of base64url. Apple's headers have about 4,500 bytes.
    static let maximumHeaderSize = 8 * 1024
    /// The maximum size in bytes of a JWS to remember.
    static let maximumSampleSize = 32 * 1024

    private let state = NIOLockedValueBox(State())

    package init() {}

    package var count: Int { state.withLockedValue { $0.entries.count } }

    /// - Parameters:
    ///   - leaf: the SHA-256 digest of the certificate in DER.
    ///   - intermediate: the SHA-256 digest of the certificate in DER.
    func chain(leaf: [UInt8], intermediate: [UInt8]) -> VerifiedChain? {
        state.withLockedValue { $0.use { $0.chain.isMade(of: leaf, intermediate) } }
    }

    /// - Parameter intermediate: the SHA-256 digest of the certificate in DER.
    /// - Returns: any chain with this intermediate.
    func chain(intermediate: [UInt8]) -> VerifiedChain? {
        state.withLockedValue { state in state.entries.last { $0.chain.intermediate?.digest == intermediate }?.chain }
    }

    /// - Parameter header: the first part of a JWS, in base64url.
    /// - Returns: the chain that signed a JWS with this header.
    func chain(withHeader header: ArraySlice<UInt8>) -> VerifiedChain? {
        state.withLockedValue { $0.use { $0.header.count == header.count && $0.header[...] == header } }
    }

    /// Remembers a chain. If there are too many, it replaces the least recently used one.
    /// - Returns: the role of a revoked certificate, in which case the chain is not remembered; nil if none is revoked.
    func remember(_ chain: VerifiedChain) -> CertificateRole? {
        state.withLockedValue { state in
            if let role = state.revokedRole(in: chain) { return role }
            state.entries.removeAll { $0.chain.isMade(of: chain.leaf.digest, chain.intermediate?.digest) }
            if state.entries.count >= Self.maximumCount { state.entries.removeFirst() }
            state.entries.append(Entry(chain: chain))
            return nil
        }
    }

    /// Remembers a JWS whose signature has been verified.
    func note(_ jws: SignedJWS, _ signature: RawSignature, of chain: VerifiedChain) {
        state.withLockedValue { state in
            guard let index = state.entries.lastIndex(where: { $0.chain.key === chain.key }) else { return }
            if jws.header.count <= Self.maximumHeaderSize { state.entries[index].header = Array(jws.header) }
            if !chain.key.isPrecomputed, jws.signingInput.count <= Self.maximumSampleSize {
                state.entries[index].sample = Sample(signature: signature.der, signingInput: jws.signingInput)
            }
        }
    }

    /// True if ``precompute()`` has work to do.
    package var canPrecompute: Bool { state.withLockedValue { $0.entries.contains { $0.sample != nil } } }

    /// Precomputes one key that has signed data. Verifying a JWS then takes about half the time. Precomputation takes
    /// tens of milliseconds of CPU time and 150 kB per key, so do not run it on an event loop.
    package func precompute() throws(OpenSSLError) {
        let entry = state.withLockedValue { state -> Entry? in
            guard let index = state.entries.firstIndex(where: { $0.sample != nil }) else { return nil }
            defer { state.entries[index].sample = nil }
            return state.entries[index]
        }
        guard let entry, let sample = entry.sample else { return }
        _ = try entry.chain.key.precompute(provenBy: sample.signature, of: sample.signingInput)
    }

    /// Returns the role of a revoked certificate in the chain; nil if none is revoked.
    func revokedRole(in chain: some CertificatePath) -> CertificateRole? {
        state.withLockedValue { $0.revokedRole(in: chain) }
    }

    /// Forgets the chains that contain a certificate, and refuses the certificate from now on.
    /// - Parameter identity: the identity of the certificate.
    package func revoke(_ identity: [UInt8]) {
        state.withLockedValue { state in
            state.entries.removeAll {
                $0.chain.leaf.identity == identity || $0.chain.intermediate?.identity == identity
            }
            guard !state.revoked.contains(identity) else { return }
            if state.revoked.count >= Self.maximumRevokedCount { state.revoked.removeFirst() }
            state.revoked.append(identity)
        }
    }

    /// The number of remembered revoked certificates.
    package var revokedCount: Int { state.withLockedValue { $0.revoked.count } }
}

extension KnownChains.State {
    /// Finds a chain and makes it the most recently used one.
    fileprivate mutating func use(_ isWanted: (KnownChains.Entry) -> Bool) -> VerifiedChain? {
        guard let index = entries.lastIndex(where: isWanted) else { return nil }
        if index != entries.endIndex - 1 { entries.append(entries.remove(at: index)) }
        return entries[entries.endIndex - 1].chain
    }

    fileprivate func revokedRole(in chain: some CertificatePath) -> CertificateRole? {
        if revoked.contains(chain.leaf.identity) { return .leaf }
        return chain.intermediate.map { revoked.contains($0.identity) } ?? false ? .intermediate : nil
    }
}

extension VerifiedChain {
    fileprivate func isMade(of leaf: [UInt8], _ intermediate: [UInt8]?) -> Bool {
        self.leaf.digest == leaf && self.intermediate?.digest == intermediate
    }
}
