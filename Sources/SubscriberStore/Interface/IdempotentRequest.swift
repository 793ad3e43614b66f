package import OfferCore

/// A request with an `Idempotency-Key`: however often it is sent, it reserves once and gets one answer.
package struct IdempotentRequest: Hashable, Sendable {
    /// The time for which an answer is kept, counted from the first request.
    package static let time = Duration.seconds(600)

    /// A digest of the caller and the key, with 32 bytes. The key itself is not stored.
    package let id: [UInt8]
    /// A digest of the method, the target and the body, with 32 bytes.
    package let digest: [UInt8]

    package init(id: [UInt8], digest: [UInt8]) {
        self.id = id
        self.digest = digest
    }

    /// The right of one process to answer the request. Another process can take it over after a time, because this one
    /// may have crashed. From then on, this one can neither reserve anything for the request nor answer it.
    package struct Claim: Hashable, Sendable {
        package let request: IdempotentRequest
        /// A random identifier.
        package let owner: UUIDText

        package init(_ request: IdempotentRequest, owner: UUIDText) {
            self.request = request
            self.owner = owner
        }
    }

    /// An answer that was durable before it was sent.
    package struct Answer: Hashable, Sendable {
        package let status: Int
        package let body: [UInt8]

        package init(status: Int, body: [UInt8]) {
            self.status = status
            self.body = body
        }
    }

    package enum ClaimResult: Hashable, Sendable {
        case granted
        /// The claim of an earlier process had ended, and its reservations were withdrawn.
        case takenOver
        /// Another process, or another request to this one, makes the answer.
        case inProgress
        case answered(Answer)
        /// The key belongs to a request with another digest.
        case keyReused
    }
}
