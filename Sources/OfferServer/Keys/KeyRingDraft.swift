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
    ///   - findings: every key that there is, and what should be one. Of several with the same ID the first counts, whatever
    ///     it is: nothing takes the place of a key that is refused.
    ///   - filePath: where the file of a key would be.
    package init(
        from old: KeyRing, to wanted: WantedKeys, findings: [KeyFinding], filePath: (KeyID) -> String
    ) {
        let firstByID = Dictionary(findings.compactMap { finding in finding.id.map { ($0, finding) } }) { first, _ in
            first
        }
        let found = firstByID.values.compactMap(\.key).sorted { $0.id < $1.id }
        var problems = findings.compactMap(\.problem)
        for id in wanted.choice.keyIDs {
            switch (firstByID[id], signs: old.state(of: id) == .active) {
            case (.key, _), (.refused, _): break
            case (.unsettled, _): problems.append(.unsettled(filePath(id)))
            case (nil, signs: true): problems.append(.goneWhileActive(id, filePath(id)))
            case (nil, signs: false): problems.append(.missing(id, filePath(id), among: found.map(\.id)))
            }
        }
        do {
            self.init(ring: try old.moved(to: wanted, found: found), problems: problems, isComplete: true)
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
    fileprivate static func unsettled(_ path: String) -> SetupProblem {
        SetupProblem("the key file \(path) is not whole yet", hint: "wait until it has been written")
    }

    /// - Parameter known: the IDs of the keys that there are.
    fileprivate static func missing(_ id: KeyID, _ path: String, among known: [KeyID]) -> SetupProblem {
        let hint =
            if let near = known.first(where: { NearMiss.isNear("\($0)", "\(id)") }) {
                "there is a key \(near): is that the one that was meant?"
            } else if !id.isOfAppStoreConnect {
                "the ID of a key from App Store Connect is ten capitals and digits"
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
            "key \(id) signs, and its file \(path) is gone; it goes on signing until the service stops",
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
