package import OfferCore
package import OfferCrypto

/// A watcher of the keys in a folder. It reads only changed files, and an unchanged key remains the same object.
///
/// The folder is scanned every second. Polling notices files renamed into place and links that now point elsewhere,
/// which is how container secrets change. Polling also works on network file systems, unlike the kernel's change
/// notifications.
package struct KeyFolderWatcher: KeySource {
    /// The time for which a file must stay unchanged before it counts as broken or gone, because a write or replacement
    /// may be in progress. A complete key takes effect immediately; a partial one never does.
    package static let settlingTime: Duration = .seconds(3)

    /// The maximum wait before a file is judged by its current content, even if it keeps changing.
    package static let maximumSettlingTime: Duration = .seconds(30)

    private let folder: KeyFolder
    private let makeKey: @Sendable (KeyID, SecretBytes) throws -> any SigningKeyPair
    private var files: [String: WatchedFile] = [:]
    private var folderFault: (problem: Diagnostic, since: ContinuousClock.Instant, isReported: Bool)?

    /// - Parameter makeKey: a function that parses the text of a key and proves that the key can sign.
    package init(
        folder: KeyFolder, makeKey: @escaping @Sendable (KeyID, SecretBytes) throws -> any SigningKeyPair
    ) {
        self.folder = folder
        self.makeKey = makeKey
    }

    package func path(of id: KeyID) -> String { folder.filePath(of: id) }

    package var keys: [KeyFileStatus] {
        let ofFiles = files.sorted { $0.key < $1.key }.compactMap(\.value.status)
        guard let folderFault, folderFault.isReported else { return ofFiles }
        return ofFiles + [.refused(nil, folderFault.problem)]
    }

    package mutating func scan(at now: ContinuousClock.Instant, _ mode: ScanMode) -> Bool {
        let names: Set<String>
        do {
            names = Set(try folder.fileNames().filter { KeyFileName($0) != .other })
        } catch {
            // All keys are kept, so a brief disk failure removes none.
            return noteFolderFault(error.problem, at: now, mode)
        }
        var hasChanged = folderFault?.isReported == true
        folderFault = nil
        for name in names.union(files.keys) {
            let stamp = names.contains(name) ? FileStamp(path: folder.filePath(name)) : .absent
            var file = files[name] ?? WatchedFile(changed: now)
            if file.stamp != stamp || mode != .forChanges || file.isTransient {
                file.record(stamp, as: stamp == .absent ? nil : read(name), at: now)
            }
            if file.settle(at: now, immediately: mode == .first) { hasChanged = true }
            files[name] = file.isForgotten ? nil : file
        }
        return hasChanged
    }

    private mutating func noteFolderFault(
        _ problem: Diagnostic, at now: ContinuousClock.Instant, _ mode: ScanMode
    ) -> Bool {
        let old = folderFault
        let since = old?.since ?? now
        let isReported = mode == .first || now - since >= Self.settlingTime
        folderFault = (problem, since, isReported)
        return isReported && (old?.isReported != true || old?.problem != problem)
    }

    /// - Returns: the status of the file, and whether another read may give a different status.
    private func read(_ name: String) -> (status: KeyFileStatus, isTransient: Bool) {
        let path = folder.filePath(name)
        let id: KeyID
        switch KeyFileName(name) {
        case .key(let named): id = named
        case .noKeyID, .other: return (.refused(nil, KeyFileError.noKeyID(path: path).problem), false)
        case .otherKind: return (.refused(nil, KeyFileError.otherKind(path: path).problem), false)
        }
        do {
            return (.key(KeyRing.Key(id: id, pair: try makeKey(id, try folder.read(id)))), false)
        } catch let error as KeyFileError {
            return (.refused(id, error.problem), error.isTransient)
        } catch {
            return (.refused(id, .notAKey(path, error: error)), false)
        }
    }
}

extension Diagnostic {
    /// Reports a string that is not a usable key.
    /// - Parameters:
    ///   - source: the file or variable that contains it.
    ///   - error: the reason; it must not contain any of the text.
    package static func notAKey(_ source: String, error: any Error) -> Diagnostic {
        Diagnostic(
            "\(source) cannot sign offers: \(error)",
            hint: "it must be the text of SubscriptionKey_<KEYID>.p8 as downloaded from App Store Connect")
    }
}
