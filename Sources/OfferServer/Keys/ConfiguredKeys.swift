package import OfferCore

/// The keys that a configuration gives access to: the one whose text it holds, and those in its folder.
package struct ConfiguredKeys: Sendable {
    package let configuration: Configuration
    private let ofText: [KeyFinding]
    private var folder: any KeySource

    /// - Parameter folder: the folder of `configuration`.
    private init(_ configuration: Configuration, folder: any KeySource, places: KeyPlaces) {
        self.configuration = configuration
        self.folder = folder
        guard let text = configuration.keyText, let id = configuration.wanted.choice.ofAllApps else {
            ofText = []
            return
        }
        do { ofText = [.key(try places.readText(id, text))] } catch { ofText = [.refused(id, error)] }
    }

    /// Reads all keys, and takes each for what it is at this moment.
    package init(_ configuration: Configuration, places: KeyPlaces) {
        self.init(configuration, folder: places.openFolder(configuration), places: places)
        _ = folder.look(at: .now, .first)
    }

    /// Reads all keys of another configuration, or of the same one again.
    package func reread(under configuration: Configuration, places: KeyPlaces) -> ConfiguredKeys {
        let isSameFolder =
            configuration.keysDirectory == self.configuration.keysDirectory
            && configuration.namesKeysDirectory == self.configuration.namesKeysDirectory
            && configuration.allowsReadableKeys == self.configuration.allowsReadableKeys
        var keys = ConfiguredKeys(
            configuration, folder: isSameFolder ? folder : places.openFolder(configuration), places: places)
        _ = keys.folder.look(at: .now, .thorough)
        return keys
    }

    /// Looks at the folder again.
    /// - Returns: whether something else is found than before.
    package mutating func look() -> Bool { folder.look(at: .now, .forChanges) }

    /// Of two with the same ID the first counts, so the text wins over a file.
    package var findings: [KeyFinding] { ofText + folder.findings }

    /// What becomes of `ring` with these keys.
    package func draft(from ring: KeyRing) -> KeyRingDraft {
        KeyRingDraft(
            from: ring, to: configuration.wanted, findings: findings, filePath: folder.place(of:))
    }
}
