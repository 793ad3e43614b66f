/// The state of a key in a ``KeyRing``.
package enum KeyState: String, CaseIterable, Hashable, Sendable {
    /// Signs for at least one app.
    case active
    /// Loaded, and can be chosen to sign.
    case standby
    /// Never signs again; kept so that its old signatures can be explained.
    case retired
}
