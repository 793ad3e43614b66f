import OfferCore

/// The subscriptions of an app: how many there are, how they begin and end, and how long they last.
package struct SubscriptionReport: Codable, Sendable {
    package let question: SubscriptionQuestion
    /// All subscriptions first, then those of each product, storefront, billing plan and kind of price.
    package let groups: [Group]
    /// The requests of the App Store for retention messages.
    package let messages: RetentionMessages

    package struct Group: Codable, Sendable {
        package enum Kind: String, CaseIterable, Codable, Sendable { case all, product, storefront, plan, price }

        package let kind: Kind
        /// Empty for all subscriptions, or if the value is unknown; nil for the smallest groups together.
        package let name: String?
        package internal(set) var now = Standing()
        /// The oldest first. The last one is running.
        package internal(set) var periods: [Flow]
        /// The subscriptions that began in each week or month, the oldest first.
        package internal(set) var cohorts: [Cohort]
        /// By the days of ``SubscriptionQuestion/recoveryDays``: of the renewals that failed at least so long ago, those
        /// that were paid since.
        package internal(set) var recovery: [Share]
    }

    /// The state at the time of the report.
    package struct Standing: Hashable, Codable, Sendable {
        /// By `PriceKind.allCases`: the subscriptions with access.
        package internal(set) var active = [Int](repeating: 0, count: PriceKind.allCases.count)
        /// Of those with access, the ones in a grace period.
        package internal(set) var inGrace = 0
        /// Without access, while the App Store still tries to collect the renewal.
        package internal(set) var inRetry = 0
        /// Of those with access, the ones whose customer has not agreed to a higher price.
        package internal(set) var awaitingConsent = 0
        /// By ``SubscriptionQuestion/paidDayClasses``: the subscriptions with access.
        package internal(set) var paidDays = [Int](repeating: 0, count: SubscriptionQuestion.paidDayClasses.count)

        package var allActive: Int { active.reduce(0, +) }

        package func active(_ price: PriceKind) -> Int {
            PriceKind.allCases.firstIndex(of: price).map { active[$0] } ?? 0
        }
    }

    /// The changes of a group of subscriptions in a week or month.
    package struct Flow: Hashable, Codable, Sendable {
        /// The first day, such as `2026-11-01`.
        package let start: String
        package let isComplete: Bool
        /// The subscriptions with access just before the first day.
        package internal(set) var atStart = 0
        package internal(set) var new = 0
        /// Those that gave access again after a gap, by a purchase.
        package internal(set) var resubscribed = 0
        /// Those that gave access again after a gap, because a failed renewal was paid.
        package internal(set) var recovered = 0
        /// Those that began earlier, but whose first known period is in this week or month.
        package internal(set) var appeared = 0
        /// Those that changed their product, storefront, plan or price to this group, and from it.
        package internal(set) var movedIn = 0
        package internal(set) var movedOut = 0
        /// By `EndCause.allCases`: the ends of access.
        package internal(set) var ended = [Int](repeating: 0, count: EndCause.allCases.count)
        /// Of those with access at the start, the ones whose access ended.
        package internal(set) var lost = 0

        package var allEnded: Int { ended.reduce(0, +) }

        package var atEnd: Int {
            atStart + new + resubscribed + recovered + appeared + movedIn - movedOut - allEnded
        }

        package var churn: Share { Share(lost, of: atStart) }

        package func ended(_ cause: EndCause) -> Int {
            EndCause.allCases.firstIndex(of: cause).map { ended[$0] } ?? 0
        }
    }

    package struct Cohort: Codable, Sendable {
        /// The first day, such as `2026-11-01`.
        package let start: String
        package internal(set) var size = 0
        /// From the first week or month on, as far as somebody has reached it.
        package internal(set) var cells: [Cell]
        /// The number of cells that everybody in the cohort has reached.
        package let complete: Int
    }

    /// The subscriptions of a cohort one day after so many weeks or months.
    package struct Cell: Hashable, Codable, Sendable {
        /// Those that began at least so long ago.
        package internal(set) var reached = 0
        /// Of them, those with access.
        package internal(set) var kept = 0
        /// Of them, those with access one week or month earlier.
        package internal(set) var had = 0
        /// Of those, the ones without access.
        package internal(set) var lost = 0

        package var retention: Share { Share(kept, of: reached) }

        package var churn: Share { Share(lost, of: had) }

        init() {}

        package init(from decoder: any Decoder) throws {
            let numbers = try [Int](from: decoder)
            guard numbers.count == 4 else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "a cell has four numbers"))
            }
            (reached, kept, had, lost) = (numbers[0], numbers[1], numbers[2], numbers[3])
        }

        // Short, because a report has thousands.
        package func encode(to encoder: any Encoder) throws { try [reached, kept, had, lost].encode(to: encoder) }
    }
}

extension SubscriptionReport.Group {
    init(_ kind: Kind, _ name: String?, _ question: SubscriptionQuestion) {
        (self.kind, self.name) = (kind, name)
        let days = question.days
        let starts = days.map { question.zone.time(local: $0.start) }
        periods = (0..<SubscriptionQuestion.periodCount).map { place in
            SubscriptionReport.Flow(start: days[place].text, isComplete: starts[place + 1] <= question.asOf)
        }
        cohorts = (0..<SubscriptionQuestion.periodCount).map { place in
            func reached(_ start: Timestamp) -> Int {
                (1...SubscriptionQuestion.followed).prefix { question.time(of: $0, after: start) <= question.asOf }
                    .count
            }
            return SubscriptionReport.Cohort(
                start: days[place].text,
                cells: Array(repeating: SubscriptionReport.Cell(), count: reached(starts[place])),
                complete: reached(starts[place + 1]))
        }
        recovery = SubscriptionQuestion.recoveryDays.map { _ in Share() }
    }

    /// A group of all subscriptions, without any.
    package init(empty question: SubscriptionQuestion) { self.init(.all, "", question) }

    /// The complete weeks or months together. ``SubscriptionReport/Flow/atStart`` is the sum, for the mean churn.
    package var total: SubscriptionReport.Flow {
        periods.filter(\.isComplete).reduce(into: SubscriptionReport.Flow(start: "", isComplete: true)) { $0.add($1) }
    }

    /// The complete cells of all cohorts together, by week or month after the beginning.
    package var totalCells: [SubscriptionReport.Cell] {
        let count = cohorts.filter { $0.size > 0 }.map(\.complete).max() ?? 0
        return (0..<count).map { place in
            cohorts.filter { $0.complete > place }.reduce(into: SubscriptionReport.Cell()) { $0.add($1.cells[place]) }
        }
    }

    /// Adds a group of other subscriptions.
    mutating func add(_ other: Self) {
        now.add(other.now)
        for place in periods.indices { periods[place].add(other.periods[place]) }
        for place in cohorts.indices {
            cohorts[place].size += other.cohorts[place].size
            for cell in cohorts[place].cells.indices {
                cohorts[place].cells[cell].add(other.cohorts[place].cells[cell])
            }
        }
        for place in recovery.indices { recovery[place] += other.recovery[place] }
    }
}

extension SubscriptionQuestion {
    /// The time at which a cohort is looked at. Renewals may start a little late, so it is one day after the week or month.
    func time(of count: Int, after start: Timestamp) -> Timestamp {
        span.time(count, after: start, in: zone).adding(days: 1)
    }
}

extension SubscriptionReport.Standing {
    mutating func add(_ other: Self) {
        for place in active.indices { active[place] += other.active[place] }
        for place in paidDays.indices { paidDays[place] += other.paidDays[place] }
        inGrace += other.inGrace
        inRetry += other.inRetry
        awaitingConsent += other.awaitingConsent
    }
}

extension SubscriptionReport.Flow {
    mutating func add(_ other: Self) {
        atStart += other.atStart
        new += other.new
        resubscribed += other.resubscribed
        recovered += other.recovered
        appeared += other.appeared
        movedIn += other.movedIn
        movedOut += other.movedOut
        for place in ended.indices { ended[place] += other.ended[place] }
        lost += other.lost
    }
}

extension SubscriptionReport.Cell {
    mutating func add(_ other: Self) {
        reached += other.reached
        kept += other.kept
        had += other.had
        lost += other.lost
    }
}
