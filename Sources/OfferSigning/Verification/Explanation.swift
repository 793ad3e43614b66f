import OfferExplanations

/// The result of verifying a signature: whether the App Store can accept it and, if not, why.
public struct Explanation: Hashable, Sendable, CustomStringConvertible {
    /// One defect, with a sentence about its remedy.
    public struct Finding: Hashable, Sendable {
        /// A stable code, such as `upper_case_uuid`. The page `docs/explanations.md` of offer-signer lists all.
        public let code: String
        /// The field or claim at fault, if any.
        public let field: String?
        public let sentence: String
    }

    /// True if every signature verifies and nothing else is wrong with it.
    public let isValid: Bool
    /// The defects of the signature and of a JWS beside it; the first one is the cause.
    public let findings: [Finding]
    /// What the signature can neither prove nor rule out, such as its age.
    public let warnings: [Finding]
    /// The ID of the key that made the signature, if it was found.
    public let keyID: String?
    /// The sentences of all findings.
    public let description: String
    /// The same as JSON: the answer of `POST /v1/explanations`.
    public let json: String

    /// The code of the first finding; nil if there is none.
    public var cause: String? { findings.first?.code }

    init(_ explanation: OfferExplanations.Explanation) {
        isValid = explanation.isGood
        findings = explanation.verdicts.flatMap(\.findings).map {
            Finding(code: $0.cause.rawValue, field: $0.field, sentence: $0.sentence)
        }
        warnings = explanation.verdicts.flatMap(\.warnings).map {
            Finding(code: $0.rawValue, field: nil, sentence: $0.sentence)
        }
        keyID = explanation.verdict.keyID
        let bad = explanation.verdicts.filter { !$0.isGood }
        description = (bad.isEmpty ? [explanation.verdict] : bad).map(\.sentences).joined(separator: " ")
        json = String(decoding: explanation.body, as: UTF8.self)
    }
}
