import Foundation

/// The service's time, from the `Date` of its answers and the time since.
///
/// The device's clock can be off by years, so the client never reads it. The uptime stops while the device sleeps, so this
/// clock can be late but never early, and the service accepts late events.
struct ServerClock: Sendable {
    private var latest: (date: Int64, uptime: TimeInterval)?

    mutating func note(_ answer: TransportAnswer, uptime: TimeInterval) {
        guard let seconds = answer.header("Date").flatMap(Self.seconds) else { return }
        latest = (seconds, uptime)
    }

    /// In milliseconds since 1970; nil before the first answer.
    func now(uptime: TimeInterval) -> Int64? {
        latest.map { $0.date * 1000 + Int64(max(0, uptime - $0.uptime) * 1000) }
    }

    /// Seconds since 1970 of a `Date` header, such as `Fri, 27 Nov 2026 14:52:31 GMT` (RFC 9110, section 5.6.7).
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), (1...31).contains(day),
            let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]), year >= 1970
        else { return nil }
        let time = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard time.count == 3, time[0] < 24, time[1] < 60, time[2] <= 60, time.allSatisfy({ $0 >= 0 }) else {
            return nil
        }
        return days(year, Int64(month + 1), day) * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Days since 1970-01-01 in the Gregorian calendar. Years begin in March, so that the leap day is the last one.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
