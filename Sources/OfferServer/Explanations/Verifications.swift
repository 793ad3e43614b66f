/// The verifications of one request, which are bounded: each takes about 45 µs of an event loop, so that the costliest request
/// keeps one for about 14 ms.
struct Verifications {
    /// How many are made for one request.
    static let maximumCount = 300

    private(set) var count = 0
    /// Whether something was left untried.
    private(set) var isCutShort = false

    /// Whether `key` accepts `signature`, in ASN.1 DER, for `message`; `false` without a try when there have been enough.
    mutating func accept(_ signature: [UInt8], of message: [UInt8], by key: CandidateKey) throws -> Bool {
        guard count < Self.maximumCount else {
            isCutShort = true
            return false
        }
        count += 1
        return try key.accepts(signature, message)
    }
}
