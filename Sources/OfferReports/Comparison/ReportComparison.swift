import OfferCore

/// The days on which Apple's Subscription Event report and the counts here differ, with the likely cause of each.
package struct ReportComparison: Sendable {
    package struct Difference: Hashable, Sendable {
        package let day: String
        package let event: ComparedEvent
        package let apple: Int
        package let here: Int
        package let cause: Cause
    }

    package enum Cause: String, CaseIterable, Hashable, Sendable {
        case incomplete
        case timeZone = "time_zone"
        case billingRetry = "billing_retry"
        case nextDay = "next_day"
        case missingHere = "missing_here"
        case missingAtApple = "missing_at_apple"

        /// docs/reports.md has the same words.
        package var text: String {
            switch self {
            case .incomplete: "Apple's report of a day is complete after three days."
            case .timeZone: "In Pacific time, as in Apple's report, the numbers are the same. Use --time-zone pacific."
            case .billingRetry:
                "Together with an event beside it, the numbers are the same: a failed payment counts in another way."
            case .nextDay:
                "The day before or after differs by as much: the time is near midnight, or was reported late."
            case .missingHere:
                "Messages may be missing here. Read the notification history, or rebuild, and compare again."
            case .missingAtApple: "Nothing is known that explains it."
            }
        }
    }

    package struct Total: Hashable, Sendable {
        package let event: ComparedEvent
        package let apple: Int
        package let here: Int
    }

    package let question: SubscriptionQuestion
    /// The number of days that are in Apple's report.
    package let days: Int
    /// The first and the last of them; nil without any.
    package let span: (first: String, last: String)?
    /// True if the days are one of Apple's fiscal months, which do not begin with a calendar month.
    package let isFiscalMonth: Bool
    /// By day, then by event.
    package let differences: [Difference]
    package let totals: [Total]
    /// The events of Apple's report that are not compared, by name.
    package let others: [(name: String, count: Int)]
    /// The number of lines about other apps.
    package let otherApps: Int

    /// The days after which Apple's report is complete.
    private static let daysUntilComplete = 3

    package init(_ question: SubscriptionQuestion, _ apple: AppleEvents, _ here: SubscriptionEventDays) {
        self.question = question
        let sorted = apple.days.keys.sorted()
        days = sorted.count
        span = sorted.first.flatMap { first in sorted.last.map { (first.text, $0.text) } }
        isFiscalMonth = sorted.isFiscalMonth
        let counts = EventCounts(apple: apple, here: here, zone: question.zone)
        differences = sorted.flatMap { day in
            ComparedEvent.allCases.compactMap { event in
                let (apple, own) = counts.both(event, day)
                guard apple != own else { return nil }
                let end = ReportZone.pacific.time(local: CivilDay(number: day.number + 1).start)
                let cause =
                    end.adding(days: Self.daysUntilComplete) > question.asOf ? .incomplete : counts.cause(event, day)
                return Difference(day: day.text, event: event, apple: apple, here: own, cause: cause)
            }
        }
        totals = ComparedEvent.allCases.map { event in
            sorted.reduce(into: Total(event: event, apple: 0, here: 0)) { total, day in
                let (apple, own) = counts.both(event, day)
                total = Total(event: event, apple: total.apple + apple, here: total.here + own)
            }
        }
        others = apple.others.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        otherApps = apple.otherApps
    }
}

/// The counts of both sides.
private struct EventCounts {
    let apple: AppleEvents
    let here: SubscriptionEventDays
    let zone: ReportZone

    func both(_ event: ComparedEvent, _ day: CivilDay) -> (apple: Int, here: Int) {
        (apple.days[day]?[event] ?? 0, here.count(event, on: day, in: zone))
    }

    private func excess(_ event: ComparedEvent, _ day: CivilDay) -> Int {
        let (apple, here) = both(event, day)
        return here - apple
    }

    func cause(_ event: ComparedEvent, _ day: CivilDay) -> ReportComparison.Cause {
        let excess = excess(event, day)
        if zone != .pacific, here.count(event, on: day, in: .pacific) == both(event, day).apple { return .timeZone }
        for group in [[ComparedEvent.recovered, .renewed, .resubscribed, .new], [.inRetry, .cancelled]] {
            // The payment or the end after a failure comes first.
            guard group.contains(event), let failed = group.first, self.excess(failed, day) != 0 else { continue }
            let others = group.dropFirst().filter { self.excess($0, day) != 0 }
            let sum = others.reduce(self.excess(failed, day)) { $0 + self.excess($1, day) }
            if !others.isEmpty, sum == 0 { return .billingRetry }
        }
        for neighbour in [CivilDay(number: day.number - 1), CivilDay(number: day.number + 1)]
        where apple.days[neighbour] != nil && self.excess(event, neighbour) == -excess {
            return .nextDay
        }
        return excess < 0 ? .missingHere : .missingAtApple
    }
}

extension [CivilDay] {
    /// True if the days are 28 or 35 without a gap from a Sunday, and no calendar month.
    fileprivate var isFiscalMonth: Bool {
        guard let first, let last, count == 28 || count == 35 else { return false }
        return last.number - first.number + 1 == Int64(count) && first.monday.number == first.number - 6
            && first != first.firstOfMonth
    }
}
