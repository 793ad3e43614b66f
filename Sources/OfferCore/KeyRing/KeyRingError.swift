/// The reason a ring has no key for an app or refuses a move.
package enum KeyRingError: Error, Hashable {
    /// No key is chosen for the app.
    case noKey
    /// The ring does not contain the key.
    case unknown(KeyID)
    /// The ring already contains a key with this ID.
    case exists(KeyID)
    /// The key signs for an app. It can be retired or removed only after another key is chosen.
    case activeKey(KeyID)
    /// The key is retired and stays retired until the process restarts.
    case retired(KeyID)
    /// One of the key's signatures did not verify with its public half. The key does not sign until the process
    /// restarts.
    case outOfService(KeyID)
}
