package import OfferCore
import OfferCrypto

/// The keys available from the settings: the key given as text, the keys in tokens, and the keys in the folder.
package struct AvailableKeys: Sendable {
    /// A function that opens a folder of keys. Tests provide sources that fail or hang.
    package typealias OpenFolder = @Sendable (KeyFolder) -> any KeySource

    package let settings: KeySettings
    private let ofText: [KeyFileStatus]
    private var tokens: TokenKeys
    private var folder: any KeySource
    private let openFolder: OpenFolder

    private init(
        _ settings: KeySettings, tokens: TokenKeys, folder: any KeySource, openFolder: @escaping OpenFolder
    ) {
        self.settings = settings
        self.tokens = tokens
        self.folder = folder
        self.openFolder = openFolder
        ofText = Self.readText(settings).map { [$0] } ?? []
    }

    private static func readText(_ settings: KeySettings) -> KeyFileStatus? {
        guard let text = settings.text, let id = settings.wanted.choice.ofAllApps else { return nil }
        do {
            return .key(KeyRing.Key(id: id, pair: try SigningKey(text: SecretBytes(copying: text.reveal.utf8))))
        } catch {
            return .refused(id, .notAKey("SUBSCRIPTION_OFFERS_PRIVATE_KEY", error: error))
        }
    }

    /// Reads all keys and judges each file by its current content, without waiting for changes to settle.
    package init(_ settings: KeySettings, openFolder: @escaping OpenFolder = { $0.watcher() }) {
        self.init(
            settings, tokens: TokenKeys(settings.tokens), folder: openFolder(settings.folder), openFolder: openFolder)
        _ = folder.scan(at: .now, .first)
        // A token that hangs delays no key file.
        _ = tokens.scan(at: .now, .first)
    }

    /// Reads all keys again, with the same or new settings.
    package func reread(_ settings: KeySettings) -> AvailableKeys {
        let isSameFolder = settings.folder == self.settings.folder
        var keys = AvailableKeys(
            settings, tokens: TokenKeys(settings.tokens, after: tokens),
            folder: isSameFolder ? folder : openFolder(settings.folder), openFolder: openFolder)
        _ = keys.folder.scan(at: .now, .thorough)
        _ = keys.tokens.scan(at: .now, .thorough)
        return keys
    }

    /// Scans the folder for changes, and tries keys in tokens again that could not be read.
    /// - Returns: true if anything changed.
    package mutating func scan() -> Bool {
        let hasFolderChanged = folder.scan(at: .now, .forChanges)
        return tokens.scan(at: .now, .forChanges) || hasFolderChanged
    }

    /// Every key and every failure to read one. If two entries have the same ID, the first wins, so the text overrides
    /// a token, which overrides a file.
    package var all: [KeyFileStatus] { ofText + tokens.keys + folder.keys }

    /// Plans the next ring from `ring` and these keys.
    /// - Parameter isRequested: true if an operator requested the change, by starting the program or with SIGHUP.
    package func plan(from ring: KeyRing, isRequested: Bool = true) -> KeyRingPlan {
        KeyRingPlan(
            from: ring, to: settings.wanted, found: all, isRequested: isRequested
        ) { id in
            settings.tokens.contains { $0.id == id } ? tokens.path(of: id) : folder.path(of: id)
        }
    }
}

extension KeyFolder {
    /// Returns a watcher that loads the keys in this folder with libcrypto.
    package func watcher() -> KeyFolderWatcher {
        KeyFolderWatcher(folder: self) { _, text in try SigningKey(text: text) }
    }
}
