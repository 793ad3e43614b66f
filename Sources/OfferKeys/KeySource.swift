package import OfferCore

/// A place where keys are stored, such as a folder of key files.
package protocol KeySource: Sendable {
    /// Scans for changes.
    /// - Parameter now: the current time, used to recognise files that may still be incomplete.
    /// - Returns: true if ``keys`` changed.
    mutating func scan(at now: ContinuousClock.Instant, _ mode: ScanMode) -> Bool

    /// Returns the path of a key's file, which need not exist.
    func path(of id: KeyID) -> String

    /// The results of the last scan, in a stable order.
    var keys: [KeyFileStatus] { get }
}

package enum ScanMode: Sendable {
    /// Reads every file and judges it by its current content.
    case first
    /// Reads only changed files, and files whose last read failed temporarily. A file that is not a valid key gets time
    /// to be completed.
    case forChanges
    /// Works like ``forChanges``, but reads every file.
    case thorough
}

/// The result of reading a key from a file or another source.
package enum KeyFileStatus: Sendable {
    /// A key that has passed a signing test.
    case key(KeyRing.Key)
    /// The source has no usable key. The values are the key's ID, if known, and the reason.
    case refused(KeyID?, Diagnostic)
    /// The file is not a valid key yet. It changed recently, so it may be half written.
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
