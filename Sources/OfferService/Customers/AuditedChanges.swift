package import OfferAudit
import OfferCore

/// Makes changes after their lines in the audit trail are durable, so no change goes unrecorded.
package struct AuditedChanges: Sendable {
    /// nil if there is no audit trail.
    private let trail: AuditTrail?

    package init(_ trail: AuditTrail?) {
        self.trail = trail
    }

    /// Records a change, then makes it. If it fails, another line records the failure.
    /// - Parameters:
    ///   - entries: returns the lines for an outcome, one for each customer.
    ///   - check: throws if the change is impossible. In that case, only the failure is recorded.
    package func make<Result: Sendable>(
        _ entries: (AuditEntry.Outcome) -> [AuditEntry],
        after check: () throws(Problem) -> Void = { () throws(Problem) in },
        _ apply: () async throws(Problem) -> Result
    ) async throws(Problem) -> Result {
        do throws(Problem) {
            try check()
            if let trail {
                guard trail.fault == nil, let commit = trail.add(entries(.accepted)), await commit.isDurable() else {
                    throw .changeNotAudited
                }
            }
            return try await apply()
        } catch {
            if error.code != .auditUnavailable {
                for entry in entries(.refused(error.code.rawValue)) { trail?.note(entry) }
            }
            throw error
        }
    }
}
