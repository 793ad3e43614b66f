/// Where keys lie, such as a folder of key files.
package protocol KeySource: Sendable {
    /// Looks again.
    /// - Parameter now: the time, by which a source tells what is still being written.
    /// - Returns: whether ``findings`` are others than before.
    mutating func look(at now: ContinuousClock.Instant) -> Bool

    /// What the last look found, in a steady order.
    var findings: [KeyFinding] { get }
}

/// What one key file, or another place of a key, came to.
package enum KeyFinding: Sendable {
    /// A key that has been proven to sign.
    case key(KeyRing.Key)
    /// No key, and why; with the ID that it would have, if that can be told.
    case refused(KeyID?, SetupProblem)
    /// Changed a moment ago, and no key as it stands: it may be half written.
    case unsettled(KeyID)

    package var id: KeyID? {
        switch self {
        case .key(let key): key.id
        case .refused(let id, _): id
        case .unsettled(let id): id
        }
    }
}
