package import OfferCore

/// The settings that determine which keys exist and which ones sign.
package struct KeySettings: Sendable {
    /// The signing key of each app, the retired keys and the required fingerprints.
    package let wanted: WantedKeys
    /// The text of the key for all apps; nil if that key comes from the folder.
    package let text: Secret?
    /// The keys in PKCS#11 tokens.
    package let tokens: [TokenKeySettings]
    package let folder: KeyFolder

    package init(wanted: WantedKeys, text: Secret?, tokens: [TokenKeySettings] = [], folder: KeyFolder) {
        self.wanted = wanted
        self.text = text
        self.tokens = tokens
        self.folder = folder
    }
}
