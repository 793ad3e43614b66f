package import OfferCore

/// A key that a presented signature may have been made with. Only its public half is used.
package struct CandidateKey: Sendable {
    package enum Standing: Sendable {
        case inService
        case retired
        /// A signature of it did not verify.
        case outOfService
    }

    package let id: KeyID
    package let standing: Standing
    /// Whether a signature, in ASN.1 DER, is one over SHA-256 of a message.
    let accepts: @Sendable (_ signature: [UInt8], _ message: [UInt8]) throws -> Bool

    package init(
        id: KeyID, standing: Standing, accepts: @escaping @Sendable ([UInt8], [UInt8]) throws -> Bool
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
    /// In what a text differs that was probably meant to be this ID; nil if it is the ID, or another one.
    func slip(in text: [UInt8]) -> Cause? {
        if text == self.text.utf8 { return nil }
        if text.trimmed == self.text.utf8 { return .whiteSpace }
        return text.trimmed.isEqual(ignoringCaseOf: self.text.utf8) ? .letterCase : nil
    }
}

extension [CandidateKey] {
    /// Those first that a text names, or nearly names.
    func sorted(byLikenessTo named: [UInt8]) -> [CandidateKey] {
        func rank(_ key: CandidateKey) -> Int {
            key.id.text.utf8 == named ? 0 : key.id.slip(in: named) == nil ? 2 : 1
        }
        // The sort keeps equals in their order.
        return sorted { rank($0) < rank($1) }
    }
}

extension KeyRing {
    /// Every key of the ring, retired ones included: those that sign first, then the others, each in order.
    package var candidateKeys: [CandidateKey] { candidateKeys(of: nil) }

    /// - Parameter apps: those whose keys a caller may know of; nil for all.
    func candidateKeys(of apps: Set<BundleID>?) -> [CandidateKey] {
        let ids = keyIDs.filter { state(of: $0) == .active } + keyIDs.filter { state(of: $0) != .active }
        let known = apps.map { Set($0.compactMap { choice.keyID(for: $0) }) }
        return ids.filter { known?.contains($0) ?? true }.compactMap(key).map { key in
            let standing: CandidateKey.Standing =
                activeOutOfService.contains(key.id)
                ? .outOfService : state(of: key.id) == .retired ? .retired : .inService
            return CandidateKey(id: key.id, standing: standing) { try key.pair.verify($0, of: $1) }
        }
    }
}
