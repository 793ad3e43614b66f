/// What a key of the ring may do.
package enum KeyState: String, CaseIterable, Hashable, Sendable {
    /// It signs for at least one app.
    case active
    /// It is loaded and may be chosen to sign.
    case standby
    /// It is known, so that its old signatures can be explained, and never signs again.
    case retired
}
