import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore

extension FuzzTarget {
    /// The body of a request to `POST /v1/offers/events`. The input is read for a caller and for a user.
    static let offerEvents = FuzzTarget("offer-events") { input throws(BrokenPromise) in
        let request = HTTPRequest(method: "POST", target: "/", contentType: "application/json", body: input)
        guard let members = try? RequestMembers.read(request, maximumCount: OfferEventsRequest.maximumCount) else {
            return
        }
        let now = Timestamp(milliseconds: 1_800_000_000_000)
        guard let events = try? OfferEventsRequest(members, user: nil, at: now) else { return }
        try promise("events are bounded", OfferEventsRequest.counts.contains(events.reports.count))
        for report in events.reports {
            try promise("no event is in the future", report.at <= now)
            try promise("no event is too old", report.at >= now - OfferEventsRequest.maximumAge)
            guard let error = report.error else { continue }
            try promise("only a failure has an error", report.kind == .failed)
            try promise("an error is bounded", (1...OfferEvent.maximumErrorSize).contains(error.utf8.count))
        }
        var other = SystemRandomNumberGenerator()
        guard let user = try? Customer(applicationUsername: Array("\(Nonce(using: &other))".utf8)) else { return }
        let names = events.reports.contains { if case .named(_, _, _) = $0.offer { true } else { false } }
        try promise(
            "a user may name nobody else", !names || (try? OfferEventsRequest(members, user: user, at: now)) == nil)
    }

    /// The value of an `Idempotency-Key` header.
    static let idempotencyKey = FuzzTarget("idempotency-key") { input throws(BrokenPromise) in
        guard let text = String(validating: input, as: UTF8.self),
            let key = try? IdempotencyKey(of: HTTPRequest(method: "POST", target: "/", idempotencyKey: text))
        else { return }
        try promise("a key is bounded", IdempotencyKey.lengths.contains(key.utf8.count))
        try promise("a key is printable ASCII", key.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        let escaped = key.utf8.flatMap { [UInt8(ascii: "\""), UInt8(ascii: "\\")].contains($0) ? [0x5C, $0] : [$0] }
        let quoted = "\"" + String(decoding: escaped, as: UTF8.self) + "\""
        let same = try? IdempotencyKey(of: HTTPRequest(method: "POST", target: "/", idempotencyKey: quoted))
        try promise("a quoted key is the same key", same?.utf8 == key.utf8)
    }
}
