import OfferCore

/// The requests that this process may send: fewer than a tenth of Apple's hourly limit in any hour.
///
/// The limit applies to all programs with the same key. What the headers say about them is honoured too.
struct HourlyAllowance {
    /// Apple's limit until an answer states it.
    private var limit = 3500
    /// The times of the requests of the last hour, oldest first.
    private var sent: [Timestamp] = []
    private var closedUntil = Timestamp.min
    /// The number of successive answers with HTTP status 429.
    private var refusals = 0

    private static let hour = Duration.hours(1)
    private static let pause = Duration.seconds(60)

    /// Returns the time of the next permitted request, which may be now.
    mutating func next(at now: Timestamp) -> Timestamp {
        // If the clock was set back, times in the future must not stop the requests until they are reached.
        sent = sent.map { min($0, now) }
        closedUntil = min(closedUntil, now + Self.hour)
        sent.removeAll { $0 + Self.hour <= now }
        let places = max(1, limit / 10 - 1)
        let free = sent.count < places ? now : sent[sent.count - places] + Self.hour
        return max(now, free, closedUntil)
    }

    mutating func note(requestAt now: Timestamp) { sent.append(now) }

    /// Notes the limit and the rest of it, as in `user-hour-lim:3500;user-hour-rem:500;`.
    mutating func note(rateLimit header: String?, at now: Timestamp) {
        refusals = 0
        let values = Dictionary(
            (header ?? "").split(separator: ";").compactMap { entry -> (Substring, Int)? in
                let sides = entry.split(separator: ":")
                guard sides.count == 2, let number = Int(sides[1]), number >= 0 else { return nil }
                return (sides[0].drop { $0 == " " }, number)
            }, uniquingKeysWith: { first, _ in first })
        if let hourly = values["user-hour-lim"], hourly > 0 { limit = min(hourly, 1_000_000) }
        // Other programs have used most of the hour. They need the rest more than a check does.
        if let rest = values["user-hour-rem"], rest < limit / 10 { closedUntil = max(closedUntil, now + Self.pause) }
    }

    /// Notes an answer with HTTP status 429.
    /// - Parameter header: `Retry-After`: seconds or a date (RFC 9110), or milliseconds since 1970 as in Apple's other APIs.
    /// - Returns: the time of the next permitted request, at most an hour from now.
    mutating func note(refusalAt now: Timestamp, retryAfter header: String?, date: (String) -> Timestamp?) -> Timestamp
    {
        let doubled = Self.pause * (1 << min(refusals, 4))
        refusals += 1
        var time = now + doubled
        if let header {
            if let number = Int64(header), number >= 0 {
                time = number < 1_000_000_000 ? now + .seconds(number) : Timestamp(milliseconds: number)
            } else if let named = date(header) {
                time = named
            }
        }
        closedUntil = min(max(time, now + .seconds(1)), now + Self.hour)
        return closedUntil
    }
}
