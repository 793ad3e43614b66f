package import OfferCore

/// The keys in a folder. A file is read again only when it has changed, so a key that stays is the same object.
///
/// It is meant to be looked at every second or so. That sees a file renamed into place and a link that points elsewhere
/// (as container secrets change), and works on network file systems, where the kernel's own notices of changes do not.
package struct KeyShelf: KeySource {
    /// How long a file has to stay as it is before it counts as broken, or as gone: it may be in the middle of being
    /// written or replaced. A key counts as soon as it is whole; a part of one never is.
    package static let settlingTime: Duration = .seconds(3)

    /// After how long it counts as that, however often it changes.
    package static let longestSettling: Duration = .seconds(30)

    private let folder: KeyFolder
    private let makeKey: @Sendable (KeyID, [UInt8]) throws -> any SigningKeyPair
    private var files: [String: ShelvedFile] = [:]
    private var folderFault: (problem: SetupProblem, since: ContinuousClock.Instant, isTold: Bool)?

    /// - Parameter makeKey: reads the text of a key and proves that the key signs.
    package init(folder: KeyFolder, makeKey: @escaping @Sendable (KeyID, [UInt8]) throws -> any SigningKeyPair) {
        self.folder = folder
        self.makeKey = makeKey
    }

    package func place(of id: KeyID) -> String { folder.filePath(of: id) }

    package var findings: [KeyFinding] {
        let ofFiles = files.sorted { $0.key < $1.key }.compactMap(\.value.standing)
        guard let folderFault, folderFault.isTold else { return ofFiles }
        return ofFiles + [.refused(nil, folderFault.problem)]
    }

    package mutating func look(at now: ContinuousClock.Instant, _ how: KeyLook) -> Bool {
        let names: Set<String>
        do {
            names = Set(try folder.fileNames().filter { KeyFileName($0) != .other })
        } catch {
            // What was there stays as it was: a disk that fails for a moment takes no key away.
            let old = folderFault
            let since = old?.since ?? now
            folderFault = (error.problem, since, isTold: how == .first || now - since >= Self.settlingTime)
            return folderFault?.isTold == true && (old?.isTold != true || old?.problem != error.problem)
        }
        var hasChanged = folderFault?.isTold == true
        folderFault = nil
        for name in names.union(files.keys) {
            let sight = names.contains(name) ? FileSight(path: folder.filePath(name)) : .gone
            var file = files[name] ?? ShelvedFile(since: now)
            if file.sight != sight || how != .forChanges || file.mayPass {
                file.see(sight, as: sight == .gone ? nil : read(name), at: now)
            }
            if file.settle(at: now, atOnce: how == .first) { hasChanged = true }
            files[name] = file.isForgotten ? nil : file
        }
        return hasChanged
    }

    /// - Returns: what the file is, and whether it may be something else at the next try.
    private func read(_ name: String) -> (finding: KeyFinding, mayPass: Bool) {
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
            return (.refused(id, error.problem), error.mayPass)
        } catch {
            return (.refused(id, .notAKey(path, error: error)), false)
        }
    }
}

extension SetupProblem {
    /// A text that is no key.
    /// - Parameters:
    ///   - source: the file or the variable that it came from.
    ///   - error: what is wrong with it; it must hold none of the text.
    package static func notAKey(_ source: String, error: any Error) -> SetupProblem {
        SetupProblem(
            "\(source) cannot sign offers: \(error)",
            hint: "it has to be the text of SubscriptionKey_<KEYID>.p8 as App Store Connect handed it out")
    }
}
