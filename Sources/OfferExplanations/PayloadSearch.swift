import OfferCore
import OfferEligibility

/// A search for the payload that a V1 signature actually covers, and for its key.
///
/// The search first tries the presented fields, with the named key and then with the other keys. It then tries each
/// hypothesis, common hypotheses with other keys, and pairs of common hypotheses. The first payload that verifies is
/// the proof. The search also ends when its ``VerificationBudget`` is spent.
struct PayloadSearch {
    /// The signed payload, its key, and the differences from the evidence.
    struct Proof {
        let key: CandidateKey
        let payload: CandidatePayload
        /// The differences from the evidence; empty if the signature verifies as presented.
        let findings: [Finding]
    }

    private let presented: PresentedFields
    private let keys: [CandidateKey]
    private let names: KnownNames
    private(set) var budget: VerificationBudget
    /// The attempts so far, so that hypotheses with the same payload cost only one verification.
    private var tried: Set<Attempt> = []

    private struct Attempt: Hashable {
        let key: KeyID
        let payload: CandidatePayload
        let der: [UInt8]
    }

    /// The maximum numbers of keys tried with the presented fields and with each hypothesis.
    private static let maximumKeyCounts = (presented: 32, altered: 3)

    /// - Parameter budget: the remaining budget of the request.
    init(_ presented: PresentedFields, keys: [CandidateKey], names: KnownNames, budget: VerificationBudget) {
        self.presented = presented
        self.budget = budget
        self.keys = keys.sorted(bySimilarityTo: presented.texts[.keyID] ?? [])
        self.names = names
    }

    /// Searches for a proof.
    /// - Parameter readings: the possible ways to read the signature's text.
    mutating func proof(of readings: [SignatureReading]) throws -> Proof? {
        guard !readings.isEmpty else { return nil }
        for reading in readings {
            if let proof = try attempt([], with: reading, keys.prefix(Self.maximumKeyCounts.presented)) { return proof }
        }
        // The named key comes first. If it is not available, the first few keys take its place.
        let others = keys.prefix(Self.maximumKeyCounts.altered)
        let likely = others.prefix { isNamed($0) }.isEmpty ? others : others.prefix(1)
        let hypotheses = Hypothesis.all(of: presented, names: names)
        let common = hypotheses.filter(\.isCommon)
        for reading in readings.prefix(1) {
            for hypothesis in hypotheses {
                if let proof = try attempt([hypothesis], with: reading, likely) { return proof }
            }
            for hypothesis in common {
                if let proof = try attempt([hypothesis], with: reading, others) { return proof }
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
        _ hypotheses: [Hypothesis], with reading: SignatureReading, _ keys: ArraySlice<CandidateKey>
    ) throws -> Proof? {
        // Assembling payloads that are never verified would take as long as verifying them.
        guard !budget.isCutShort else { return nil }
        var altered = presented.payload
        for hypothesis in hypotheses { hypothesis.apply(&altered) }
        for key in keys {
            for (finding, payload) in payloads(altered, of: key) {
                guard tried.insert(Attempt(key: key.id, payload: payload, der: reading.der)).inserted else { continue }
                guard
                    try budget.accept(
                        reading.der, of: payload.bytes(), hashedBy: payload.signatureDigest, by: key)
                else { continue }
                let findings = reading.findings + (finding.map { [$0] } ?? []) + hypotheses.map(\.finding)
                return Proof(key: key, payload: payload, findings: findings)
            }
        }
        return nil
    }

    /// Returns the payloads that a key may have signed: one with its own ID, and one with the presented ID.
    private func payloads(_ payload: CandidatePayload, of key: CandidateKey) -> [(Finding?, CandidatePayload)] {
        if isNamed(key) { return [(nil, payload)] }
        var own = payload
        own[.keyID] = key.id.text.utf8
        return [(otherID(key), own), (Finding(.wrongKey, field: "keyID", keyID: "\(key.id)"), payload)]
    }

    private func otherID(_ key: CandidateKey) -> Finding {
        let cause = key.id.typo(in: presented.texts[.keyID] ?? []) ?? .keyIDDiffers
        return Finding(cause, field: "keyID", keyID: "\(key.id)")
    }
}
