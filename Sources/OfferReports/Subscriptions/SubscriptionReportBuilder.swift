import OfferCore

/// Adds subscriptions to a report. Their order makes no difference to the result.
package struct SubscriptionReportBuilder: Sendable {
    private typealias Group = SubscriptionReport.Group
    private typealias Kind = SubscriptionReport.Group.Kind
    private typealias Flow = SubscriptionReport.Flow

    private let question: SubscriptionQuestion
    /// The starts of the weeks or months, and the end of the last one.
    private let starts: [Timestamp]
    private let whole: Group
    private var groups: [Kind: [String: Group]] = [:]
    private var messages: RetentionMessagesBuilder

    package init(_ question: SubscriptionQuestion) {
        self.question = question
        starts = question.days.map { question.zone.time(local: $0.start) }
        whole = Group(.all, "", question)
        messages = RetentionMessagesBuilder(question)
    }

    /// Adds a subscription about which the App Store requested a message. The subscription itself is added apart.
    package mutating func add(_ subject: RetentionSubject) { messages.add(subject) }

    package mutating func add(_ subscription: ReportedSubscription) {
        let runs = subscription.runs
        let cells = cells(of: subscription, runs)
        for kind in Kind.allCases {
            addFlows(subscription, runs, kind)
            addStanding(subscription, kind)
            if let run = runs.first { addCohort(subscription.periods[run.lowerBound], cells, kind) }
            addRecovery(subscription, kind)
        }
    }

    private mutating func change(_ kind: Kind, _ period: ReportedSubscription.Period, _ change: (inout Group) -> Void) {
        change(&groups[kind, default: [:]][period.group(kind), default: Group(kind, period.group(kind), whole)])
    }

    // MARK: Beginnings and ends

    private mutating func addFlows(
        _ subscription: ReportedSubscription, _ runs: [ReportedSubscription.Run], _ kind: Kind
    ) {
        let periods = subscription.periods
        var isFirst = true
        for run in runs {
            var since = periods[run.lowerBound].start
            let beginning: WritableKeyPath<Flow, Int> =
                if !isFirst {
                    periods[run.lowerBound].isRenewal ? \.recovered : \.resubscribed
                } else {
                    subscription.isKnownFromStart ? \.new : \.appeared
                }
            count(beginning, 1, kind, periods[run.lowerBound], at: since)
            for place in run.dropFirst() where periods[place].group(kind) != periods[place - 1].group(kind) {
                count(\.movedOut, -1, kind, periods[place - 1], at: periods[place].start)
                count(\.movedIn, 1, kind, periods[place], at: periods[place].start)
                since = periods[place].start
            }
            let last = periods[run.upperBound]
            isFirst = false
            guard last.accessEnd <= question.asOf else { continue }
            let cause = EndCause.allCases.firstIndex(of: last.cause) ?? 0
            count(\.ended[cause], -1, kind, last, at: last.accessEnd)
            if let place = place(of: last.accessEnd), since < starts[place] {
                change(kind, last) { $0.periods[place].lost += 1 }
            }
        }
    }

    /// Counts an event in the week or month of its time. Its change of the number of subscriptions is noted in the next one;
    /// ``report()`` adds up.
    private mutating func count(
        _ number: WritableKeyPath<Flow, Int>, _ difference: Int, _ kind: Kind, _ period: ReportedSubscription.Period,
        at time: Timestamp
    ) {
        let place = place(of: time)
        change(kind, period) { group in
            if let place { group.periods[place][keyPath: number] += 1 }
            let next = place.map { $0 + 1 } ?? 0
            if next < group.periods.count { group.periods[next].atStart += difference }
        }
    }

    /// - Returns: nil for a time before the first week or month.
    private func place(of time: Timestamp) -> Int? {
        starts.lastIndex { $0 <= time }.map { min($0, SubscriptionQuestion.periodCount - 1) }
    }

    // MARK: The present

    private mutating func addStanding(_ subscription: ReportedSubscription, _ kind: Kind) {
        guard let last = subscription.periods.last else { return }
        let asOf = question.asOf
        guard let current = subscription.periods.last(where: { $0.start <= asOf && asOf < $0.accessEnd }) else {
            let isRetried = last.hasFailed && !last.isOver && last.accessEnd <= asOf
            if isRetried, asOf < last.end.adding(days: Self.retryDays) { change(kind, last) { $0.now.inRetry += 1 } }
            return
        }
        let price = PriceKind.allCases.firstIndex(of: current.price) ?? 0
        let paid = SubscriptionQuestion.paidDayClasses.lastIndex { $0 <= subscription.paidDays } ?? 0
        change(kind, current) { group in
            group.now.active[price] += 1
            group.now.paidDays[paid] += 1
            if current.end <= asOf { group.now.inGrace += 1 }
            if subscription.awaitsConsent { group.now.awaitingConsent += 1 }
        }
    }

    /// The days for which the App Store tries to collect a renewal.
    private static let retryDays = 60

    // MARK: Cohorts

    /// - Returns: nil if the beginning of the subscription is unknown.
    private func cells(
        of subscription: ReportedSubscription, _ runs: [ReportedSubscription.Run]
    ) -> [SubscriptionReport.Cell]? {
        guard subscription.isKnownFromStart, let run = runs.first else { return nil }
        let start = subscription.periods[run.lowerBound].start
        guard starts[0] <= start else { return nil }
        var cells: [SubscriptionReport.Cell] = []
        var had = true
        for count in 1...SubscriptionQuestion.followed {
            let time = question.time(of: count, after: start)
            guard time <= question.asOf else { break }
            let has = subscription.hasAccess(at: time)
            var cell = SubscriptionReport.Cell()
            (cell.reached, cell.kept) = (1, has ? 1 : 0)
            (cell.had, cell.lost) = (had ? 1 : 0, had && !has ? 1 : 0)
            cells.append(cell)
            had = has
        }
        return cells
    }

    private mutating func addCohort(
        _ first: ReportedSubscription.Period, _ cells: [SubscriptionReport.Cell]?, _ kind: Kind
    ) {
        guard let cells, let place = place(of: first.start) else { return }
        change(kind, first) { group in
            group.cohorts[place].size += 1
            for (cell, new) in zip(group.cohorts[place].cells.indices, cells) {
                group.cohorts[place].cells[cell].add(new)
            }
        }
    }

    // MARK: Failed payments

    private mutating func addRecovery(_ subscription: ReportedSubscription, _ kind: Kind) {
        for period in subscription.periods where period.hasFailed && starts[0] <= period.end {
            for (place, days) in SubscriptionQuestion.recoveryDays.enumerated() {
                let end = period.end.adding(days: days)
                guard end <= question.asOf else { break }
                change(kind, period) { $0.recovery[place].add(period.recoveredAt.map { $0 <= end } ?? false) }
            }
        }
    }

    // MARK: The report

    package func report() -> SubscriptionReport {
        let sorted = Kind.allCases.flatMap { kind -> [Group] in
            guard let groups = groups[kind]?.mapValues(\.added) else { return kind == .all ? [whole] : [] }
            // The largest first, to find the smallest ones.
            let bySize = groups.sorted { one, other in
                let sizes = (one.value.size, other.value.size)
                return sizes.0 == sizes.1 ? one.key < other.key : sizes.0 > sizes.1
            }.map(\.value)
            guard bySize.count > SubscriptionQuestion.maximumGroups else { return bySize }
            let kept = SubscriptionQuestion.maximumGroups - 1
            return bySize.prefix(kept)
                + [bySize.dropFirst(kept).reduce(into: Group(kind, nil, whole)) { $0.add($1) }]
        }
        return SubscriptionReport(question: question, groups: sorted, messages: messages.result)
    }
}

extension SubscriptionReport.Group {
    /// An empty group with the weeks or months of another.
    fileprivate init(_ kind: Kind, _ name: String?, _ whole: Self) {
        self.init(
            kind: kind, name: name, periods: whole.periods, cohorts: whole.cohorts, recovery: whole.recovery)
    }

    /// The group with the sums of the changes.
    fileprivate var added: Self {
        var group = self
        for place in group.periods.indices.dropFirst() {
            group.periods[place].atStart += group.periods[place - 1].atStart
        }
        return group
    }

    /// A number that is larger for groups with more subscriptions, now or earlier.
    fileprivate var size: Int { now.allActive + periods.reduce(0) { $0 + $1.new + $1.atStart } }
}

extension ReportedSubscription.Period {
    /// The name of the group of a kind to which the period belongs.
    fileprivate func group(_ kind: SubscriptionReport.Group.Kind) -> String {
        switch kind {
        case .all: ""
        case .product: product
        case .storefront: storefront
        case .plan: plan
        case .price: price.rawValue
        }
    }
}

extension SubscriptionReport {
    package init(_ question: SubscriptionQuestion, _ subscriptions: some Sequence<ReportedSubscription>) {
        var builder = SubscriptionReportBuilder(question)
        for subscription in subscriptions { builder.add(subscription) }
        self = builder.report()
    }
}
