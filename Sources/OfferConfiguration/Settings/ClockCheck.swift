import CProcess
package import FoundationEssentials
package import OfferCore

/// A plausibility check of the clock. A signature is valid for 24 hours from its timestamp, so a wrong clock can
/// invalidate it.
package struct ClockCheck: Sendable {
    private let built: Date?

    /// The earliest time that a correct clock can show.
    package let earliest: Timestamp

    /// The check against the build date of this program.
    package static let ofThisBuild = ClockCheck(buildDay: unsafe String(cString: offer_build_day()))

    /// - Parameter buildDay: the build date in the format of `__DATE__` in C, such as `Jan  1 2026`.
    package init(buildDay: String) {
        built = Self.date(buildDay)
        // One day is subtracted, because the build machine may have been in any time zone.
        earliest = built.map { Timestamp(milliseconds: Int64($0.timeIntervalSince1970) * 1000 - 86_400_000) } ?? .min
    }

    /// - Parameters:
    ///   - now: the time that the clock shows.
    ///   - files: paths and change times of files. The times may come from another machine's clock, but none is in the
    ///     future if both clocks are right.
    package func problem(now: Date, files: [(path: String, time: Date)]) -> Diagnostic? {
        if let built, now < earliest.date {
            return Diagnostic(
                "the clock shows \(Self.text(now)), which is before this version was built (\(Self.text(built)))",
                hint: Self.hint)
        }
        if let newest = files.max(by: { $0.time < $1.time }), newest.time > now.addingTimeInterval(Self.tolerance) {
            return Diagnostic(
                """
                the clock shows \(Self.text(now)), but \(newest.path) is from \(Self.text(newest.time)): the clock is \
                behind, or was ahead on the machine that wrote the file
                """, hint: Self.hint)
        }
        return nil
    }

    /// The accepted clock difference, in seconds. Synchronised clocks of two machines differ by far less.
    private static let tolerance: TimeInterval = 60
    private static let hint = "set the clock and keep it synchronised (NTP): signatures with a wrong time are refused"

    private static func text(_ date: Date) -> String { date.formatted(.iso8601) }

    /// Returns midnight UTC of a day such as `Jan  1 2026`.
    private static func date(_ day: String) -> Date? {
        let parts = day.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 3, let month = months.firstIndex(of: String(parts[0])), let day = Int(parts[1]),
            let year = Int(parts[2])
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(from: DateComponents(year: year, month: month + 1, day: day))
    }
}
