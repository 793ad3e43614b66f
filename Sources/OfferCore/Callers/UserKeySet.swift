/// The public keys of an identity provider, ready to check signatures.
package struct UserKeySet: Sendable {
    /// A key for one algorithm; a key that is good for several is there several times.
    package struct Key: Sendable {
        /// `kid`; nil for a key without one.
        package let id: [UInt8]?
        package let algorithm: TokenAlgorithm
        /// Whether a signature, as it is in a token, is one over the message. A malformed signature is a "no".
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

    /// The one key that a token can mean.
    /// - Parameter id: `kid` of the token; without one, there has to be no choice.
    package func key(_ id: [UInt8]?, for algorithm: TokenAlgorithm) -> Key? {
        let candidates = keys.filter { $0.algorithm == algorithm && (id == nil || $0.id == id) }
        return candidates.count == 1 ? candidates[0] : nil
    }
}

/// Reads key sets. It is used in the background only, and may wait.
package protocol KeySetSource: Sendable {
    /// The text at `place`, as it is at this moment.
    func text(at place: KeySetPlace) async throws(KeySetFault) -> KeySetText

    /// - Parameter place: what the text is called in a problem.
    /// - Returns: the keys, at least one, and what is wrong with others.
    /// - Throws: `.notHad` if it is no set at all; `.bad` if there is no good key in it, or one that should not be there.
    func keys(
        in text: [UInt8], from place: KeySetPlace
    ) async throws(KeySetFault) -> (set: UserKeySet, problems: [SetupProblem])

    /// Lets go of what the reading needed.
    func close() async
}
