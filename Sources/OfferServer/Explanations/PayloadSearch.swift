import OfferCore

/// Looks for what a V1 signature was really made over, and with which key.
///
/// The order is: what was presented, under the key that it names; under every other key; one variation; a common one under other
/// keys; two common ones. It ends at the first that verifies, which is the proof, or when ``Verifications`` are used up.
struct PayloadSearch {
    /// What was signed.
    struct Proof {
        let key: CandidateKey
        let form: SignedForm
        /// What differs from what was presented; none if nothing does.
        let findings: [Finding]
    }

    private let presented: PresentedFields
    private let keys: [CandidateKey]
    private let names: KnownNames
    private let sha256: @Sendable ([UInt8]) throws -> [UInt8]
    private(set) var verifications: Verifications
    /// What has been tried, so that two variations that come to the same cost one verification.
    private var tried: Set<Attempt> = []

    private struct Attempt: Hashable {
        let key: KeyID
        let form: SignedForm
        let der: [UInt8]
    }

    /// At most so many keys are tried with what was presented, and so many with its variations.
    private static let maximumKeyCounts = (presented: 32, varied: 3)

    /// - Parameter verifications: those of the request so far.
    init(
        _ presented: PresentedFields, keys: [CandidateKey], names: KnownNames, verifications: Verifications,
        sha256: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) {
        self.presented = presented
        self.verifications = verifications
        self.sha256 = sha256
        self.keys = keys.sorted(byLikenessTo: presented.texts[.keyID] ?? [])
        self.names = names
    }

    /// - Parameter readings: what the signature's text may stand for.
    mutating func proof(of readings: [SignatureReading]) throws -> Proof? {
        guard !readings.isEmpty else { return nil }
        for reading in readings {
            if let proof = try attempt([], with: reading, keys.prefix(Self.maximumKeyCounts.presented)) { return proof }
        }
        // The named key is the first; where it is not here, the first ones stand in for it.
        let others = keys.prefix(Self.maximumKeyCounts.varied)
        let likely = others.prefix { isNamed($0) }.isEmpty ? others : others.prefix(1)
        let variations = Variation.all(of: presented, names: names)
        let common = variations.filter(\.isCommon)
        for reading in readings.prefix(1) {
            for variation in variations {
                if let proof = try attempt([variation], with: reading, likely) { return proof }
            }
            for variation in common {
                if let proof = try attempt([variation], with: reading, others) { return proof }
            }
            for (index, one) in common.enumerated() {
                for other in common[(index + 1)...] {
                    if let proof = try attempt([one, other], with: reading, likely.prefix(1)) { return proof }
                }
            }
        }
        return nil
    }

    private func isNamed(_ key: CandidateKey) -> Bool { key.id.text.utf8 == presented.texts[.keyID] }

    private mutating func attempt(
        _ variations: [Variation], with reading: SignatureReading, _ keys: ArraySlice<CandidateKey>
    ) throws -> Proof? {
        // To put forms together that nothing is done with would take as long as to verify.
        guard !verifications.isCutShort else { return nil }
        var form = presented.payload
        for variation in variations { variation.apply(&form) }
        for key in keys {
            for (finding, form) in forms(form, of: key) {
                guard tried.insert(Attempt(key: key.id, form: form, der: reading.der)).inserted else { continue }
                let message = try form.bytes(sha256: sha256)
                guard try verifications.accept(reading.der, of: message, by: key) else { continue }
                let findings = reading.findings + (finding.map { [$0] } ?? []) + variations.map(\.finding)
                return Proof(key: key, form: form, findings: findings)
            }
        }
        return nil
    }

    /// The forms that a key may have signed: with its own ID in the payload, or with the ID that was presented.
    private func forms(_ form: SignedForm, of key: CandidateKey) -> [(Finding?, SignedForm)] {
        if isNamed(key) { return [(nil, form)] }
        var own = form
        own[.keyID] = key.id.text.utf8
        return [(otherID(key), own), (Finding(.wrongKey, field: "keyID", keyID: "\(key.id)"), form)]
    }

    private func otherID(_ key: CandidateKey) -> Finding {
        let cause = key.id.slip(in: presented.texts[.keyID] ?? []) ?? .keyIDDiffers
        return Finding(cause, field: "keyID", keyID: "\(key.id)")
    }
}
