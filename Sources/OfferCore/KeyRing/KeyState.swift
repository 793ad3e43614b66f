/// The state of a key in a ``KeyRing``.
package enum KeyState: String, CaseIterable, Hashable, Sendable {
    /// The key signs for at least one app.
    case active
    /// The key is loaded and can be chosen to sign.
    case standby
    /// The key never signs again. It is kept so that its old signatures can be explained.
    case retired
}
