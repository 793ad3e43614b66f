package import OfferCore
import OfferEligibility

/// A difference of a minute or more between this machine's clock and the App Store's.
package struct ClockError: Hashable, Sendable {
    /// Positive if this machine's clock is ahead.
    package let seconds: Int64

    /// - Parameters:
    ///   - date: the `Date` header of a response, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
    ///   - now: the time at which the response arrived.
    /// - Returns: nil if there is no valid date or the difference is smaller.
    package init?(date: String?, at now: Timestamp) {
        guard let date, let time = Self.time(date) else { return nil }
        let (difference, overflow) = now.milliseconds.subtractingReportingOverflow(time.milliseconds)
        guard !overflow, difference.magnitude >= 60_000 else { return nil }
        seconds = difference / 1000
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Parses the date of an HTTP header; nil if it is invalid.
    package static func time(_ date: String) -> Timestamp? {
        let parts = date.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(rfc3339: Array("\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z".utf8)[...])
    }
}

extension ClockError: CustomStringConvertible {
    package var description: String {
        "this machine's clock is \(seconds.magnitude) s \(seconds > 0 ? "ahead of" : "behind") the App Store's"
    }
}
