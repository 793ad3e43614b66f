import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService

extension FuzzTarget {
    /// The body of `POST /v1/grants`.
    static let grantRequest = FuzzTarget("grant-request") { input throws(BrokenPromise) in
        let request = HTTPRequest(method: "POST", target: "/", contentType: "application/json", body: input)
        guard let members = try? RequestMembers.read(request), let order = try? GrantOrder(members) else { return }
        let purpose = order.purpose
        try promise("a reason is short", (1...64).contains(purpose.reason.utf8.count))
        try promise(
            "a note is bounded",
            purpose.note.map { (1...OfferGrant.Purpose.maximumNoteSize).contains($0.utf8.count) } ?? true)
        try promise(
            "a ticket is bounded",
            purpose.ticket.map { (1...OfferGrant.Purpose.maximumTicketSize).contains($0.utf8.count) } ?? true)
        let texts = [purpose.reason, purpose.note, purpose.ticket].compactMap(\.self)
        try promise("texts have no control characters", !texts.contains { $0.utf8.contains { $0 < 0x20 } })
        try promise("limits are lifted only on request", !order.liftsLimits || members["liftsLimits"] != nil)
    }
}
