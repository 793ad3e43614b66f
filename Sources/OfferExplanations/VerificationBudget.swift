import OfferCore

/// The limit on verifications per request. Each takes about 45 µs, so the costliest request occupies a background
/// thread for about 14 ms.
struct VerificationBudget {
    /// The maximum number of verifications per request.
    static let maximumCount = 300

    private(set) var count = 0
    /// True if a verification was skipped because the budget was spent.
    private(set) var isCutShort = false

    /// Verifies `signature`, in ASN.1 DER, over a digest of `message`.
    /// - Returns: `false` without verifying if the budget is spent.
    mutating func accept(
        _ signature: [UInt8], of message: @autoclosure () throws -> [UInt8], hashedBy digest: SignatureDigest,
        by key: CandidateKey
    ) throws -> Bool {
        guard count < Self.maximumCount else {
            isCutShort = true
            return false
        }
        count += 1
        return try key.accepts(signature, message(), digest)
    }
}
