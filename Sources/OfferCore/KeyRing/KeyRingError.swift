/// The reason a ring has no key for an app or refuses a move.
package enum KeyRingError: Error, Hashable {
    /// No key is chosen for the app.
    case noKey
    /// The ring does not contain the key.
    case unknown(KeyID)
    /// The ring already contains a key with this ID.
    case exists(KeyID)
    /// The key signs for an app. It can be retired or removed after another key is chosen.
    case activeKey(KeyID)
    /// The key is retired, and remains so until the process restarts.
    case retired(KeyID)
    /// The key's own public half refused one of its signatures. It does not sign until the process restarts.
    case outOfService(KeyID)
}
