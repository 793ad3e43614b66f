/// Where keys lie, such as a folder of key files.
package protocol KeySource: Sendable {
    /// Looks again.
    /// - Parameters:
    ///   - now: the time, by which a source tells what is still being written.
    ///   - how: how thoroughly.
    /// - Returns: whether ``findings`` are others than before.
    mutating func look(at now: ContinuousClock.Instant, _ how: KeyLook) -> Bool

    /// Where the file of a key would be.
    func place(of id: KeyID) -> String

    /// What the last look found, in a steady order.
    var findings: [KeyFinding] { get }
}

package enum KeyLook: Sendable {
    /// Everything is read, and counts as what it is at this moment.
    case first
    /// Only what has changed is read. What is no key is given time to become one.
    case forChanges
    /// As ``forChanges``, but everything is read.
    case thorough
}

/// What one key file, or another place of a key, came to.
package enum KeyFinding: Sendable {
    /// A key that has been proven to sign.
    case key(KeyRing.Key)
    /// No key, and why; with the ID that it would have, if that can be told.
    case refused(KeyID?, SetupProblem)
    /// Changed a moment ago, and no key as it stands: it may be half written.
    case unsettled(KeyID)

    package var key: KeyRing.Key? { if case .key(let key) = self { key } else { nil } }

    package var problem: SetupProblem? { if case .refused(_, let problem) = self { problem } else { nil } }

    package var id: KeyID? {
        switch self {
        case .key(let key): key.id
        case .refused(let id, _): id
        case .unsettled(let id): id
        }
    }
}
