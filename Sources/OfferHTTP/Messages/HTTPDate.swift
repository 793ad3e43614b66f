package import FoundationEssentials
import OfferTelemetry

/// The value of the `Date` header, such as `Thu, 01 Jan 2026 00:00:00 GMT` (RFC 9110 section 5.6.7), formatted at most
/// once a second.
package final class HTTPDate: Sendable {
    private let text = CachedPerSecond { Array(format($0).utf8) }

    package init() {}

    /// The current time as ASCII.
    package var now: [UInt8] { text.now }

    package static func format(_ date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.weekday, .day, .month, .year, .hour, .minute, .second], from: date)
        let weekday = weekdays[((parts.weekday ?? 1) - 1) % 7]
        let month = months[((parts.month ?? 1) - 1) % 12]
        let time = [parts.hour, parts.minute, parts.second].map { twoDigits($0 ?? 0) }.joined(separator: ":")
        return "\(weekday), \(twoDigits(parts.day ?? 1)) \(month) \(parts.year ?? 1970) \(time) GMT"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
