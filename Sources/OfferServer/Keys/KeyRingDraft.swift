package import OfferCore

/// What becomes of a ring when the configuration or the keys have changed, and what is wrong on the way there.
package struct KeyRingDraft: Sendable {
    /// The ring to put in force: all that was wanted, or the ring as it was.
    package let ring: KeyRing
    package let problems: [SetupProblem]
    /// Whether ``ring`` is what was wanted.
    package let isComplete: Bool

    /// - Parameters:
    ///   - old: the ring in force; empty at start.
    ///   - wanted: what the configuration asks for.
    ///   - findings: every key that there is. Of two with the same ID the first counts.
    ///   - filePath: where the file of a key would be.
    package init(
        from old: KeyRing, to wanted: WantedKeys, findings: [KeyFinding], filePath: (KeyID) -> String
    ) {
        var found: [KeyID: KeyRing.Key] = [:]
        var problems: [SetupProblem] = []
        var explained: Set<KeyID> = []
        var isWaiting = false
        for finding in findings {
            switch finding {
            case .key(let key):
                if found[key.id] == nil { found[key.id] = key }
            case .refused(let id, let problem):
                if let id { explained.insert(id) }
                problems.append(problem)
            case .unsettled(let id):
                // Where the key signs, that its file is gone stays a problem until the new one is whole.
                if old.state(of: id) != .active { explained.insert(id) }
                if wanted.choice.chooses(id) { isWaiting = true }
            }
        }

        let known = findings.compactMap(\.id)
        for id in wanted.choice.keyIDs where found[id] == nil && !explained.contains(id) {
            let path = filePath(id)
            problems.append(
                old.state(of: id) == .active ? .goneWhileActive(id, path) : .missing(id, path, among: known))
        }
        let isThere = { id in found[id] != nil || old.state(of: id) == .active }
        guard !isWaiting || wanted.choice.keyIDs.allSatisfy(isThere) else {
            self.init(ring: old, problems: problems, isComplete: false)
            return
        }
        do {
            let ring = try old.moved(to: wanted, found: found.values.sorted { $0.id < $1.id })
            self.init(ring: ring, problems: problems, isComplete: true)
        } catch {
            if let problem = SetupProblem(error) { problems.append(problem) }
            self.init(ring: old, problems: problems, isComplete: false)
        }
    }

    private init(ring: KeyRing, problems: [SetupProblem], isComplete: Bool) {
        self.ring = ring
        self.problems = problems
        self.isComplete = isComplete
    }
}

extension SetupProblem {
    /// - Parameter known: the IDs that there are.
    fileprivate static func missing(_ id: KeyID, _ path: String, among known: [KeyID]) -> SetupProblem {
        let hint =
            if let near = known.first(where: { NearMiss.isNear("\($0)", "\(id)") }) {
                "there is a key \(near): is that the one that was meant?"
            } else if known.isEmpty {
                "put the file there as App Store Connect handed it out"
            } else {
                "the folder has keys with these IDs: \(known.prefix(10).map(\.description).joined(separator: ", "))"
                    + (known.count > 10 ? " and \(known.count - 10) more" : "")
            }
        return SetupProblem("there is no key file \(path)", hint: hint)
    }

    fileprivate static func goneWhileActive(_ id: KeyID, _ path: String) -> SetupProblem {
        SetupProblem(
            "the key file \(path) is gone; the key goes on signing until the service stops",
            hint: "put the file back, or choose another key before the next start")
    }

    /// - Returns: nil for a key that is not there, which has been told already.
    fileprivate init?(_ error: KeyRingError) {
        switch error {
        case .noKey, .unknown: return nil
        case .retired(let id):
            self.init(
                "key \(id) is chosen, and has been retired for good",
                hint: "choose another key; only a new start makes it an ordinary key again")
        case .outOfService(let id):
            self.init(
                "key \(id) is chosen, and is out of service: a signature that it made did not verify",
                hint: "choose another key, or start anew on a machine that can be trusted")
        case .exists(let id), .activeKey(let id):
            self.init("key \(id) cannot be changed while it signs", hint: "choose another key first")
        }
    }
}
