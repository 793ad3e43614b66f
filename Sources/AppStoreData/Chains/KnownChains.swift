import NIOConcurrencyHelpers
import OfferCrypto

/// The chains verified so far, so that more data signed with the same certificate costs one verification.
///
/// Only chains that end in a trusted root get in, and Apple changes its certificates every one or two years. The bound
/// is for roots of an operator who issues more.
package final class KnownChains: Sendable {
    /// The maximum number of pairs of leaf and intermediate.
    package static let maximumCount = 32
    /// The maximum number of revoked certificates to remember.
    static let maximumRevokedCount = 256

    fileprivate struct State {
        /// The last one used is the last element.
        var chains: [VerifiedChain] = []
        /// SHA-256 digests.
        var revoked: [[UInt8]] = []
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    package var count: Int { state.withLockedValue { $0.chains.count } }

    /// - Parameters:
    ///   - leaf: the SHA-256 digest of the certificate in DER.
    ///   - intermediate: likewise.
    func chain(leaf: [UInt8], intermediate: [UInt8]) -> VerifiedChain? {
        state.withLockedValue { state in
            guard let index = state.chains.lastIndex(where: { $0.isMade(of: leaf, intermediate) }) else { return nil }
            let chain = state.chains[index]
            if index != state.chains.endIndex - 1 { state.chains.append(state.chains.remove(at: index)) }
            return chain
        }
    }

    /// Remembers a chain in place of the one that has been unused the longest.
    /// - Returns: the role of a certificate that has been revoked, in which case nothing is remembered.
    func remember(_ chain: VerifiedChain) -> CertificateRole? {
        state.withLockedValue { state in
            if let role = state.revokedRole(in: chain) { return role }
            state.chains.removeAll { $0.isMade(of: chain.leaf.digest, chain.intermediate?.digest) }
            if state.chains.count >= Self.maximumCount { state.chains.removeFirst() }
            state.chains.append(chain)
            return nil
        }
    }

    /// Forgets the chains that contain a certificate, and refuses it from now on. A caller's check of revocation calls
    /// this as soon as it knows.
    /// - Parameter digest: the SHA-256 digest of the certificate in DER.
    package func revoke(_ digest: [UInt8]) {
        state.withLockedValue { state in
            state.chains.removeAll { $0.leaf.digest == digest || $0.intermediate?.digest == digest }
            guard !state.revoked.contains(digest) else { return }
            if state.revoked.count >= Self.maximumRevokedCount { state.revoked.removeFirst() }
            state.revoked.append(digest)
        }
    }
}

extension KnownChains.State {
    fileprivate func revokedRole(in chain: VerifiedChain) -> CertificateRole? {
        if revoked.contains(chain.leaf.digest) { return .leaf }
        return chain.intermediate.map { revoked.contains($0.digest) } ?? false ? .intermediate : nil
    }
}

extension VerifiedChain {
    fileprivate func isMade(of leaf: [UInt8], _ intermediate: [UInt8]?) -> Bool {
        self.leaf.digest == leaf && self.intermediate?.digest == intermediate
    }
}
