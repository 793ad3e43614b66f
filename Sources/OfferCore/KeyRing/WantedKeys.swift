/// The configured signing keys and retired keys.
package struct WantedKeys: Hashable, Sendable {
    /// The signing key for each app.
    package var choice: KeyChoice
    /// Keys that must never sign again. The configuration is rejected if it also chooses one to sign.
    package var retired: Set<KeyID>

    package init(choice: KeyChoice, retired: Set<KeyID> = []) {
        self.choice = choice
        self.retired = retired
    }
}
