package import FoundationEssentials
package import OfferCore

/// Whether the clock can be right. The App Store counts 24 hours from the timestamp that is signed.
package struct ClockCheck: Sendable {
    private let built: Date?

    /// No clock that is right shows a time before this.
    package let earliest: Timestamp

    /// - Parameter buildDay: the day of the build as a C compiler writes it, such as `Jan  1 2026`.
    package init(buildDay: String) {
        built = Self.date(buildDay)
        // A day before, because the machine that built it may have been in any time zone.
        earliest = built.map { Timestamp(milliseconds: Int64($0.timeIntervalSince1970) * 1000 - 86_400_000) } ?? .min
    }

    /// - Parameters:
    ///   - now: what the clock says.
    ///   - files: paths with their times, which another machine's clock may have set. None of them is in the future where
    ///     both clocks are right.
    package func problem(now: Date, files: [(path: String, time: Date)]) -> SetupProblem? {
        if let built, now < earliest.date {
            return SetupProblem(
                "the clock says \(Self.text(now)), which is before this version was built (\(Self.text(built)))",
                hint: Self.hint)
        }
        if let newest = files.max(by: { $0.time < $1.time }), newest.time > now.addingTimeInterval(Self.tolerance) {
            return SetupProblem(
                """
                the clock says \(Self.text(now)), and \(newest.path) is from \(Self.text(newest.time)): the clock is \
                behind, or the one that wrote the file was ahead
                """, hint: Self.hint)
        }
        return nil
    }

    /// In seconds: clocks of two machines that are kept right differ by far less.
    private static let tolerance: TimeInterval = 60
    private static let hint = "set the clock right and keep it so (NTP): signatures with a wrong time are refused"

    private static func text(_ date: Date) -> String { date.formatted(.iso8601) }

    /// Midnight UTC of a day such as `Jan  1 2026`.
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
