package import OfferCore

/// A key pair whose public half can be precomputed. It then verifies its own signatures in about half the time.
package protocol PrecomputableKeyPair: SigningKeyPair {
    /// - Returns: false if the public half is already precomputed, or if precomputation cannot help.
    func precompute() throws -> Bool

    func releasePrecomputation()
}
