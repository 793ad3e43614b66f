package import OfferCore
import OfferEligibility

/// A key that may have made a presented signature. Only its public half is used.
package struct CandidateKey: Sendable {
    package enum Standing: Sendable {
        case inService
        case retired
        /// One of the key's signatures did not verify.
        case outOfService
    }

    package let id: KeyID
    package let standing: Standing
    /// Verifies a signature, in ASN.1 DER, over a digest of a message.
    let accepts: @Sendable (_ signature: [UInt8], _ message: [UInt8], _ digest: SignatureDigest) throws -> Bool

    package init(
        id: KeyID, standing: Standing,
        accepts: @escaping @Sendable ([UInt8], [UInt8], SignatureDigest) throws -> Bool
    ) {
        self.id = id
        self.standing = standing
        self.accepts = accepts
    }

    var warning: ExplanationWarning? {
        switch standing {
        case .inService: nil
        case .retired: .keyRetired
        case .outOfService: .keyOutOfService
        }
    }
}

extension KeyID {
    /// Classifies a misspelling of this ID.
    /// - Returns: nil if the text is this ID or a different one.
    func typo(in text: [UInt8]) -> Cause? {
        if text == self.text.utf8 { return nil }
        if text.trimmed == self.text.utf8 { return .whiteSpace }
        return text.trimmed.isEqual(ignoringCaseOf: self.text.utf8) ? .letterCase : nil
    }
}

extension [CandidateKey] {
    /// Sorts the key with this ID first, followed by keys with an ID that it misspells.
    func sorted(bySimilarityTo named: [UInt8]) -> [CandidateKey] {
        func rank(_ key: CandidateKey) -> Int {
            key.id.text.utf8 == named ? 0 : key.id.typo(in: named) == nil ? 2 : 1
        }
        // The sort is stable.
        return sorted { rank($0) < rank($1) }
    }
}

extension KeyRing {
    /// Lists the keys of the ring, including retired ones. Active keys come first.
    /// - Parameter apps: the apps whose keys the caller may see; nil for all keys.
    package func candidateKeys(of apps: Set<BundleID>?) -> [CandidateKey] {
        let ids = keyIDs.filter { state(of: $0) == .active } + keyIDs.filter { state(of: $0) != .active }
        let known = apps.map { Set($0.compactMap { choice.keyID(for: $0) }) }
        return ids.filter { known?.contains($0) ?? true }.compactMap(key).map { key in
            let standing: CandidateKey.Standing =
                activeOutOfService.contains(key.id)
                ? .outOfService : state(of: key.id) == .retired ? .retired : .inService
            return CandidateKey(id: key.id, standing: standing) { try key.pair.verify($0, of: $1, hashedBy: $2) }
        }
    }
}
