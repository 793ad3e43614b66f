package import OfferCore

/// The next key ring, planned from the current one, the settings and the keys that were found.
package struct KeyRingPlan: Sendable {
    /// The ring to put in force: the requested one, or the current one unchanged.
    package let ring: KeyRing
    package let problems: [Diagnostic]
    /// True if ``ring`` is the requested one.
    package let isComplete: Bool
    /// The active keys that keep their pairs although their files now contain others.
    package let keptKeys: [KeyID]

    /// - Parameters:
    ///   - old: the ring in force; empty at startup.
    ///   - found: the status of every key and of every file that should be one. If several have the same ID, the first
    ///     one wins, even if it was refused.
    ///   - isRequested: true if an operator requested the change. If not, an active key keeps its pair even if another
    ///     pair was found under its ID, unless the configuration gives the other pair's fingerprint. Write access to a
    ///     file must not be enough to choose the key that the service signs with.
    ///   - filePath: returns the path of a key's file, which need not exist.
    package init(
        from old: KeyRing, to wanted: WantedKeys, found: [KeyFileStatus], isRequested: Bool,
        filePath: (KeyID) -> String
    ) {
        let found = found.map { $0.checked(against: wanted) }
        let firstByID = Dictionary(found.compactMap { status in status.id.map { ($0, status) } }) { first, _ in first }
        let keys = firstByID.values.compactMap(\.key).sorted { $0.id < $1.id }
        var problems = found.compactMap(\.problem)
        for id in wanted.choice.keyIDs {
            switch (firstByID[id], signs: old.state(of: id) == .active) {
            case (.key, _), (.refused, _): break
            case (.unsettled, _): problems.append(.unsettled(filePath(id)))
            case (nil, signs: true): problems.append(.removedWhileActive(id, filePath(id)))
            case (nil, signs: false): problems.append(.missing(id, filePath(id), among: keys.map(\.id)))
            }
        }
        var kept: [KeyID: KeyRing.Key] = [:]
        for key in keys where !isRequested && wanted.fingerprints[key.id] == nil {
            guard old.state(of: key.id) == .active, let signing = old.key(key.id),
                signing.pair.fingerprint != key.pair.fingerprint
            else { continue }
            kept[key.id] = signing
            problems.append(.replacedWhileActive(key, filePath(key.id), signing: signing))
        }
        keptKeys = kept.keys.sorted()
        do {
            let next = try old.moved(to: wanted, found: keys.map { kept[$0.id] ?? $0 })
            isComplete = next.active.allSatisfy { id in next.key(id).map(wanted.permits) ?? true }
            ring = isComplete ? next : old
        } catch {
            if let problem = Diagnostic(error) { problems.append(problem) }
            ring = old
            isComplete = false
        }
        self.problems = problems
    }
}

extension KeyFileStatus {
    /// Refuses a key whose fingerprint is not the configured one.
    fileprivate func checked(against wanted: WantedKeys) -> KeyFileStatus {
        guard let key, !wanted.permits(key) else { return self }
        return .refused(key.id, .wrongFingerprint(key, wanted: wanted.fingerprints[key.id] ?? ""))
    }
}

extension Diagnostic {
    fileprivate static func unsettled(_ path: String) -> Diagnostic {
        Diagnostic("the key file \(path) is incomplete", hint: "wait until it has been written")
    }

    /// - Parameter known: the IDs of the keys that exist.
    fileprivate static func missing(_ id: KeyID, _ path: String, among known: [KeyID]) -> Diagnostic {
        let hint =
            if let near = known.first(where: { NearMiss.isNear("\($0)", "\(id)") }) {
                "there is a key \(near): did you mean that one?"
            } else if !id.hasAppStoreConnectForm {
                "the ID of a key from App Store Connect is ten capital letters and digits"
            } else if known.isEmpty {
                "put the file there as downloaded from App Store Connect"
            } else {
                "the folder has keys with these IDs: \(known.prefix(10).map(\.description).joined(separator: ", "))"
                    + (known.count > 10 ? " and \(known.count - 10) more" : "")
            }
        return Diagnostic("there is no key file \(path)", hint: hint)
    }

    fileprivate static func removedWhileActive(_ id: KeyID, _ path: String) -> Diagnostic {
        Diagnostic(
            "key \(id) is active, but its file \(path) is gone; the key keeps signing until the service stops",
            hint: "put the file back, or choose another key before the service restarts")
    }

    fileprivate static func replacedWhileActive(
        _ key: KeyRing.Key, _ path: String, signing: KeyRing.Key
    ) -> Diagnostic {
        Diagnostic(
            "\(path) now contains another key, which is not used: key \(key.id) keeps signing with the pair "
                + "\(signing.pair.fingerprint) (SHA-256 of the public key), not with \(key.pair.fingerprint)",
            hint: "if you replaced the file, send SIGHUP; if not, restore it and find out who can write to the folder")
    }

    fileprivate static func wrongFingerprint(_ key: KeyRing.Key, wanted fingerprint: String) -> Diagnostic {
        Diagnostic(
            "key \(key.id) has the fingerprint \(key.pair.fingerprint) (SHA-256 of the public key), but the "
                + "configuration requires \(fingerprint)",
            hint: "restore the right key file, or correct the fingerprint, which 'offer-signer keys list' prints")
    }

    /// - Returns: nil for a missing key, which has already been reported.
    fileprivate init?(_ error: KeyRingError) {
        switch error {
        case .noKey, .unknown: return nil
        case .retired(let id):
            self.init(
                "key \(id) is chosen, but it has been retired",
                hint: "choose another key; a retired key can sign again only after a restart")
        case .outOfService(let id):
            self.init(
                "key \(id) is chosen, but it is out of service: one of its signatures did not verify",
                hint: "choose another key, or restart on a machine that can be trusted")
        case .exists(let id), .activeKey(let id):
            self.init("key \(id) cannot be changed while it is active", hint: "choose another key first")
        }
    }
}
