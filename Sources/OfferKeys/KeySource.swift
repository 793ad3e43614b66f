package import OfferCore

/// A place where keys are stored, such as a folder of key files.
package protocol KeySource: Sendable {
    /// Scans for changes.
    /// - Parameter now: the current time, used to recognise files that may still be incomplete.
    /// - Returns: whether ``keys`` changed.
    mutating func scan(at now: ContinuousClock.Instant, _ mode: ScanMode) -> Bool

    /// Returns the path of a key's file, which need not exist.
    func path(of id: KeyID) -> String

    /// The results of the last scan, in a stable order.
    var keys: [KeyFileStatus] { get }
}

package enum ScanMode: Sendable {
    /// Reads every file and judges it by its current content.
    case first
    /// Reads only changed files. A file that is not a valid key gets time to be completed.
    case forChanges
    /// Like ``forChanges``, but reads every file.
    case thorough
}

/// The result of reading one key file, or a key from elsewhere.
package enum KeyFileStatus: Sendable {
    /// A key that has passed a signing test.
    case key(KeyRing.Key)
    /// Not a usable key, with its ID (if known) and the reason.
    case refused(KeyID?, Diagnostic)
    /// Not a valid key yet. The file changed a moment ago, so it may be half written.
    case unsettled(KeyID)

    package var key: KeyRing.Key? { if case .key(let key) = self { key } else { nil } }

    package var problem: Diagnostic? { if case .refused(_, let problem) = self { problem } else { nil } }

    package var id: KeyID? {
        switch self {
        case .key(let key): key.id
        case .refused(let id, _): id
        case .unsettled(let id): id
        }
    }
}
