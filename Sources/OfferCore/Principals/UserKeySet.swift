/// The public keys of an identity provider, ready to verify signatures.
package struct UserKeySet: Sendable {
    /// A key for one algorithm. A key that supports several algorithms has several entries.
    package struct Key: Sendable {
        /// The key's `kid`; nil for a key without one.
        package let id: [UInt8]?
        package let algorithm: TokenAlgorithm
        /// A function that returns true if a signature, encoded as in a token, is valid for the message.
        package let verifies: @Sendable (_ signature: [UInt8], _ message: [UInt8]) -> Bool

        package init(
            id: [UInt8]?, algorithm: TokenAlgorithm,
            verifies: @escaping @Sendable (_ signature: [UInt8], _ message: [UInt8]) -> Bool
        ) {
            self.id = id
            self.algorithm = algorithm
            self.verifies = verifies
        }
    }

    package let keys: [Key]

    package init(_ keys: [Key]) {
        self.keys = keys
    }

    /// Finds the one key that a token refers to.
    /// - Parameter id: the `kid` of the token. If it is nil, the set must have only one key for the algorithm.
    /// - Returns: nil if no key or more than one key matches.
    package func key(_ id: [UInt8]?, for algorithm: TokenAlgorithm) -> Key? {
        let candidates = keys.filter { $0.algorithm == algorithm && (id == nil || $0.id == id) }
        return candidates.count == 1 ? candidates[0] : nil
    }
}
