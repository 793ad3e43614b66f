package import OfferCore

/// The settings that determine which keys exist and which ones sign.
package struct KeySettings: Sendable {
    /// The choice of signing key for each app, and the retired keys.
    package let wanted: WantedKeys
    /// The text of the key for all apps; nil if it comes from the folder.
    package let text: Secret?
    package let folder: KeyFolder

    package init(wanted: WantedKeys, text: Secret?, folder: KeyFolder) {
        self.wanted = wanted
        self.text = text
        self.folder = folder
    }
}
