import OfferHTTP

extension HTTPRequest {
    /// The maximum size of a body with proofs, in bytes. A receipt with a thousand purchases takes 570 kB in base64.
    static let maximumProofBodySize = 1024 * 1024
}
