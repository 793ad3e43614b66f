package import OfferCore

/// The keys that a configuration gives access to: the one whose text it holds, and those in its folder.
package struct ConfiguredKeys: Sendable {
    package let configuration: Configuration
    private let ofText: [KeyFinding]
    private var folder: any KeySource

    package init(_ configuration: Configuration, places: KeyPlaces) {
        self.configuration = configuration
        ofText = Self.findings(ofTextIn: configuration, places: places)
        folder = places.openFolder(configuration)
    }

    /// The keys of another configuration; a folder that stays the same is not read anew.
    package func changed(to configuration: Configuration, places: KeyPlaces) -> ConfiguredKeys {
        var changed = self
        let opensSameFolder =
            configuration.keysDirectory == self.configuration.keysDirectory
            && configuration.allowsReadableKeys == self.configuration.allowsReadableKeys
        if !opensSameFolder { changed.folder = places.openFolder(configuration) }
        return ConfiguredKeys(
            configuration, ofText: Self.findings(ofTextIn: configuration, places: places), folder: changed.folder)
    }

    private init(_ configuration: Configuration, ofText: [KeyFinding], folder: any KeySource) {
        self.configuration = configuration
        self.ofText = ofText
        self.folder = folder
    }

    /// - Returns: whether something else is found than at the last look.
    package mutating func look() -> Bool { folder.look(at: .now) }

    /// The text wins over a file with the same ID.
    package var findings: [KeyFinding] { ofText + folder.findings }

    /// What becomes of `ring` with these keys.
    package func draft(from ring: KeyRing) -> KeyRingDraft {
        KeyRingDraft(
            from: ring, to: configuration.wanted, findings: findings,
            filePath: { "\(configuration.keysDirectory)/SubscriptionKey_\($0).p8" })
    }

    private static func findings(ofTextIn configuration: Configuration, places: KeyPlaces) -> [KeyFinding] {
        guard let text = configuration.keyText, let id = configuration.wanted.choice.ofAllApps else { return [] }
        do { return [.key(try places.readText(id, text))] } catch { return [.refused(id, error)] }
    }
}
