/// The service's explanation of a signature that StoreKit rejected.
public struct OfferExplanation: Hashable, Sendable {
    /// A named defect, such as `letter_case`. docs/explanations.md lists them; later versions add more.
    public struct Cause: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let otherValue = Cause(rawValue: "other_value")
        public static let letterCase = Cause(rawValue: "letter_case")
        public static let customerNotSigned = Cause(rawValue: "customer_not_signed")
        public static let hashedTwice = Cause(rawValue: "hashed_twice")
        public static let base64Twice = Cause(rawValue: "signature_base64_twice")
        public static let wrongKey = Cause(rawValue: "wrong_key")
        public static let unexplained = Cause(rawValue: "unexplained")
    }

    /// True if the signature verifies for the values that StoreKit got.
    public let verifies: Bool
    /// The first defect; nil if there is none. A signature without a defect was used before, or is too old.
    public let cause: Cause?
    public let field: String?
    public let text: String
    /// Codes of what the signature can neither prove nor rule out, such as `older_than_24_hours`.
    public let warnings: [String]
}
