/// Why the ring has no key for an app, or refuses a move.
package enum KeyRingError: Error, Hashable {
    /// No key is chosen for the app, so the app is not served.
    case noKey
    /// There is no such key in the ring.
    case unknown(KeyID)
    /// There is a key with this ID already.
    case exists(KeyID)
    /// The key signs for an app, so it is neither retired nor removed: choose another one first.
    case activeKey(KeyID)
    /// The key was retired, and that is final for as long as the process runs.
    case retired(KeyID)
    /// The key made a signature that its own public half refused, and signs no more until the process starts anew.
    case outOfService(KeyID)
}
