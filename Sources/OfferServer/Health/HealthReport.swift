import OfferCore

/// What `/health/ready` finds.
package struct HealthReport: Hashable, Sendable {
    /// What is looked at. The API's contract (`openapi.json`) says what each state of each means.
    enum Check: String, CaseIterable {
        case keys, selfTest, audit, clock, catalogue
    }

    enum State: String {
        case ok
        /// Something is wrong, and everything is signed all the same.
        case degraded
        /// Because of this something that should be signed is not.
        case failed
        /// There is none.
        case off
    }

    /// For those who may know more than that.
    struct Details: Hashable {
        let activeKeys: [KeyID]
        let problems: [SetupProblem]
    }

    let states: [Check: State]
    let details: Details?

    /// The log has them all.
    private static let maximumProblems = 50

    func write(to writer: inout JSONWriter) {
        writer.object("checks") { writer in
            for check in Check.allCases { writer.member(check.rawValue, (states[check] ?? .off).rawValue) }
        }
        guard let details else { return }
        writer.member("activeKeys", details.activeKeys.map(\.description))
        guard !details.problems.isEmpty else { return }
        writer.member("problems", details.problems.prefix(Self.maximumProblems).map(\.error))
    }
}
