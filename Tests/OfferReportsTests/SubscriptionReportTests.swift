import OfferCore
import TestSupport
import Testing

@testable import OfferReports

@Suite("The report about subscriptions")
struct SubscriptionReportTests {
    private typealias Period = ReportedSubscription.Period
    private typealias Group = SubscriptionReport.Group

    /// 2025-01-01.
    private static let start = Timestamp(milliseconds: 1_735_689_600_000)

    private static func time(_ day: Double) -> Timestamp { start + .milliseconds(Int64(day * 86_400_000)) }

    private static func period(
        _ start: Double, _ end: Double, accessEnd: Double? = nil, _ cause: EndCause = .cancelled,
        _ change: (inout Period) -> Void = { _ in }
    ) -> Period {
        var period = Period(start: time(start), end: time(end), accessEnd: time(accessEnd ?? end), cause: cause)
        (period.product, period.storefront, period.plan) = ("monthly", "USA", "BILLED_UPFRONT")
        change(&period)
        return period
    }

    private static func question(_ day: Double, _ zone: ReportZone = .utc) -> SubscriptionQuestion {
        var question = SubscriptionQuestion(asOf: time(day))
        question.zone = zone
        return question
    }

    private static func report(_ subscriptions: [ReportedSubscription], _ day: Double) -> SubscriptionReport {
        SubscriptionReport(question(day), subscriptions)
    }

    /// The flow of the month that contains a day.
    private static func flow(
        _ report: SubscriptionReport, _ month: String, _ kind: Group.Kind = .all, _ name: String = ""
    )
        throws -> SubscriptionReport.Flow
    {
        let group = try #require(report.groups.first { $0.kind == kind && $0.name == name })
        return try #require(group.periods.first { $0.start == month })
    }

    @Test("a subscription begins once, ends for a cause, and comes back by a purchase or by a payment")
    func events() throws {
        let subscription = ReportedSubscription([
            Self.period(10, 40), Self.period(40, 70, .billing) { ($0.isRenewal, $0.hasFailed) = (true, true) },
            // Paid after the grace period that there was not.
            Self.period(75, 105) { $0.isRenewal = true }, Self.period(130, 160, .refunded),
        ])
        let report = Self.report([subscription], 200)
        let months = try ["2025-01-01", "2025-02-01", "2025-03-01", "2025-04-01", "2025-05-01", "2025-06-01"].map {
            try Self.flow(report, $0)
        }
        #expect(months.map(\.new) == [1, 0, 0, 0, 0, 0])
        #expect(months.map(\.atStart) == [0, 1, 1, 1, 0, 1])
        #expect(months.map { $0.ended(.billing) } == [0, 0, 1, 0, 0, 0])
        #expect(months.map { $0.ended(.cancelled) } == [0, 0, 0, 1, 0, 0])
        #expect(months.map { $0.ended(.refunded) } == [0, 0, 0, 0, 0, 1])
        #expect(months.map(\.recovered) == [0, 0, 1, 0, 0, 0])
        #expect(months.map(\.resubscribed) == [0, 0, 0, 0, 1, 0])
        #expect(
            months.map(\.churn) == [
                Share(), Share(0, of: 1), Share(1, of: 1), Share(1, of: 1), Share(), Share(1, of: 1),
            ])
        #expect(report.groups.first?.total.new == 1)
        var later = subscription
        later.isKnownFromStart = false
        #expect(try Self.flow(Self.report([later], 200), "2025-01-01").appeared == 1)
    }

    @Test("the running month is not complete, and does not count in totals")
    func incomplete() throws {
        let report = Self.report([ReportedSubscription([Self.period(34, 64)])], 40)
        let group = try #require(report.groups.first)
        #expect(group.periods.count == SubscriptionQuestion.periodCount)
        #expect(group.periods.map(\.isComplete).suffix(2) == [true, false])
        #expect(group.periods.last?.new == 1 && group.total.new == 0)
    }

    @Test("a change of the product or the price moves a subscription, and ends none")
    func moves() throws {
        let subscription = ReportedSubscription([
            Self.period(5, 12) { $0.price = .trial },
            Self.period(12, 20) { $0.isRenewal = true },
            Self.period(20, 400) { $0.product = "yearly" },
        ])
        let report = Self.report([subscription], 50)
        let all = try Self.flow(report, "2025-01-01")
        #expect(all.new == 1 && all.movedIn == 0 && all.allEnded == 0)
        let monthly = try Self.flow(report, "2025-01-01", .product, "monthly")
        #expect((monthly.new, monthly.movedOut, monthly.atEnd) == (1, 1, 0))
        let yearly = try Self.flow(report, "2025-01-01", .product, "yearly")
        #expect((yearly.new, yearly.movedIn, yearly.atEnd) == (0, 1, 1))
        let trial = try Self.flow(report, "2025-01-01", .price, "trial")
        #expect((trial.new, trial.movedOut, trial.lost) == (1, 1, 0))
        #expect(report.groups.map(\.kind) == [.all, .product, .product, .storefront, .plan, .price, .price])
    }

    @Test("the present has each kind of price, grace, retry, consent and paid days")
    func standing() {
        func state(_ subscription: ReportedSubscription, _ day: Double = 50) -> SubscriptionReport.Standing {
            Self.report([subscription], day).groups[0].now
        }
        let trial = state(ReportedSubscription([Self.period(45, 52) { $0.price = .trial }]))
        #expect(trial.active(.trial) == 1 && trial.allActive == 1)
        let failed = ReportedSubscription([Self.period(10, 40, accessEnd: 56, .billing) { $0.hasFailed = true }])
        #expect(state(failed).inGrace == 1 && state(failed).inRetry == 0 && state(failed).allActive == 1)
        #expect(state(failed, 56).inGrace == 0 && state(failed, 56).inRetry == 1 && state(failed, 56).allActive == 0)
        #expect(state(failed, 99).inRetry == 1 && state(failed, 100).inRetry == 0)
        let over = ReportedSubscription([Self.period(10, 40, .billing) { ($0.hasFailed, $0.isOver) = (true, true) }])
        #expect(state(over).inRetry == 0)
        var old = ReportedSubscription([Self.period(40, 70)])
        (old.awaitsConsent, old.paidDays) = (true, 365)
        #expect(state(old).awaitingConsent == 1 && state(old).paidDays == [0, 0, 0, 0, 1])
        old.paidDays = 364
        #expect(state(old).paidDays == [0, 0, 0, 1, 0])
        #expect(state(old, 70).awaitingConsent == 0)
    }

    @Test("a cohort is followed by month, as far as each subscription has reached it")
    func cohorts() throws {
        let early = ReportedSubscription([Self.period(0, 31), Self.period(31, 59) { $0.isRenewal = true }])
        let late = ReportedSubscription([Self.period(25, 56), Self.period(56, 400)])
        let group = try #require(Self.report([early, late], 70).groups.first)
        let cohort = try #require(group.cohorts.first { $0.start == "2025-01-01" })
        #expect(cohort.size == 2 && cohort.complete == 1)
        #expect(cohort.cells.map(\.retention) == [Share(2, of: 2), Share(0, of: 1)])
        #expect(cohort.cells.map(\.churn) == [Share(0, of: 2), Share(1, of: 1)])
        #expect(group.totalCells.map(\.retention) == [Share(2, of: 2)])
        #expect(group.cohorts.filter { $0.size > 0 }.count == 1)
    }

    @Test("recovery counts failures that are old enough")
    func recovery() {
        let subscriptions = [1.5, 20, nil].map { days -> ReportedSubscription in
            ReportedSubscription([
                Self.period(10, 40, .billing) { period in
                    period.hasFailed = true
                    period.recoveredAt = days.map { Self.time(40 + $0) }
                }
            ])
        }
        let recovery = Self.report(subscriptions, 62).groups[0].recovery
        let byDay = Dictionary(uniqueKeysWithValues: zip(SubscriptionQuestion.recoveryDays, recovery))
        #expect(byDay[1] == Share(0, of: 3) && byDay[2] == Share(1, of: 3) && byDay[21] == Share(2, of: 3))
        #expect(byDay[28] == Share())
    }

    @Test("months begin at midnight of the time zone")
    func zone() throws {
        // 2025-02-01 at 7:00 UTC is 23:00 on 31 January in Pacific time.
        let subscription = ReportedSubscription([Self.period(31 + 7.0 / 24, 61)])
        #expect(try Self.flow(SubscriptionReport(Self.question(80), [subscription]), "2025-02-01").new == 1)
        #expect(try Self.flow(SubscriptionReport(Self.question(80, .pacific), [subscription]), "2025-01-01").new == 1)
        var weekly = Self.question(80)
        weekly.span = .week
        let group = SubscriptionReport(weekly, [subscription]).groups[0]
        #expect(group.periods.map(\.start).contains("2025-01-27") && group.cohorts.map(\.size).reduce(0, +) == 1)
    }

    @Test("a renewal after a refund is not a purchase by the customer")
    func renewalAfterRefund() throws {
        let subscription = ReportedSubscription([
            Self.period(0, 30, accessEnd: 20, .refunded), Self.period(30, 60) { $0.isRenewal = true },
        ])
        let flow = try Self.flow(Self.report([subscription], 50), "2025-01-01")
        #expect((flow.ended(.refunded), flow.recovered, flow.resubscribed) == (1, 1, 0))
    }

    /// Subscriptions with renewals, failures, upgrades and returns by chance.
    private static func random(_ count: Int, seed: UInt64, storefronts: Int = 5) -> [ReportedSubscription] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in
            var day: Double = .random(in: 0..<600, using: &random)
            var periods: [Period] = []
            let storefront = "S\(Int.random(in: 0..<storefronts, using: &random))"
            while day < 700, periods.count < 30 {
                let lengths: [Double] = [7, 30, 365]
                let length: Double = lengths.randomElement(using: &random) ?? 30
                let hasFailed = Int.random(in: 0..<5, using: &random) == 0
                let isGone = Int.random(in: 0..<6, using: &random) == 0
                let gap: Double = hasFailed || isGone ? .random(in: 0.1..<50, using: &random) : 0
                periods.append(
                    period(day, day + length, EndCause.allCases.randomElement(using: &random) ?? .other) { period in
                        period.isRenewal = !periods.isEmpty && gap < 25
                        period.hasFailed = hasFailed
                        period.product = length == 30 ? "monthly" : "other"
                        period.price = PriceKind.allCases.randomElement(using: &random) ?? .standard
                        period.storefront = storefront
                        period.recoveredAt = hasFailed && !isGone ? time(day + length + gap) : nil
                    })
                day += length + gap
                if isGone, Bool.random(using: &random) { break }
            }
            let known = periods.filter { $0.start <= time(700) }
            var subscription = ReportedSubscription(known)
            subscription.isKnownFromStart = Int.random(in: 0..<4, using: &random) > 0
            return subscription
        }
    }

    @Test("each month ends with what the next one begins with, in each group, and the last one with the active ones")
    func balance() {
        let subscriptions = Self.random(400, seed: 3)
        let report = Self.report(subscriptions, 700)
        for group in report.groups {
            for (earlier, later) in zip(group.periods, group.periods.dropFirst()) {
                #expect(earlier.atEnd == later.atStart, "\(group.kind) \(group.label) \(later.start)")
                #expect(later.lost <= later.allEnded && later.atStart >= 0)
            }
            #expect(group.periods.last?.atEnd == group.now.allActive, "\(group.kind) \(group.label)")
        }
        for kind in Group.Kind.allCases {
            let groups = report.groups.filter { $0.kind == kind }
            #expect(groups.reduce(0) { $0 + $1.now.allActive } == report.groups[0].now.allActive)
            #expect(groups.reduce(0) { $0 + $1.total.new } == report.groups[0].total.new)
            #expect(groups.reduce(0) { $0 + $1.total.lost } == report.groups[0].total.lost || kind != .storefront)
        }
        // Each number of active subscriptions, counted anew.
        let counted = subscriptions.count { $0.hasAccess(at: Self.time(700)) }
        #expect(report.groups[0].now.allActive == counted && counted > 50)
    }

    @Test("the order changes no byte, and a kept report has the same numbers")
    func order() throws {
        let subscriptions = Self.random(200, seed: 4)
        let report = Self.report(subscriptions, 700)
        var random = SplitMix64(seed: 5)
        let other = Self.report(subscriptions.shuffled(using: &random), 700)
        #expect(report.json == other.json && report.csv == other.csv)
        let kept = try #require(SubscriptionReport(kept: try report.kept))
        #expect(kept.json == report.json)
        #expect(SubscriptionReport(kept: Array("{}".utf8)) == nil)
    }

    @Test("of many storefronts, the smallest are together, and the report stays small")
    func manyGroups() throws {
        let report = Self.report(Self.random(3000, seed: 6, storefronts: 175), 700)
        let groups = report.groups.filter { $0.kind == .storefront }
        #expect(groups.count == SubscriptionQuestion.maximumGroups && groups.last?.name == nil)
        #expect(groups.reduce(0) { $0 + $1.now.allActive } == report.groups[0].now.allActive)
        #expect(groups.last?.label == "all others")
        // Two kinds can have the maximum number of groups, and a kept report has at most 1 MiB.
        let size = try report.kept.count
        #expect(size * 2 < 1 << 20, "\(size)")
    }

    @Test("the intervals of recovery contain the truth")
    func truth() {
        // Two of ten renewals fail, and one is cancelled. Half of the failures recover on a day from 0 to 19.
        let (seeds, count) = (40, 300)
        var (hits, tries) = (0, 0)
        for seed in 0..<UInt64(seeds) {
            var random = SplitMix64(seed: seed)
            let subscriptions = (0..<count).map { _ -> ReportedSubscription in
                var periods: [Period] = []
                var day = Double.random(in: 1..<30, using: &random)
                while day < 300 {
                    let lot = Double.random(in: 0..<1, using: &random)
                    let end = day + 365.25 / 12
                    let delay = lot < 0.1 ? Double.random(in: 0..<20, using: &random) : nil
                    periods.append(
                        Self.period(day, end, lot < 0.2 ? .billing : .cancelled) { period in
                            period.isRenewal = !periods.isEmpty
                            period.hasFailed = lot < 0.2
                            period.recoveredAt = delay.map { Self.time(end + $0) }
                        })
                    guard lot < 0.1 || lot >= 0.3 else { break }
                    day = end + (delay ?? 0)
                }
                return ReportedSubscription(periods.filter { $0.start <= Self.time(300) })
            }
            let group = Self.report(subscriptions, 300).groups[0]
            let days = SubscriptionQuestion.recoveryDays
            for (day, truth) in [(10, 0.25), (28, 0.5)] {
                guard let place = days.firstIndex(of: day), let interval = group.recovery[place].interval else {
                    continue
                }
                tries += 1
                if interval.lower <= truth, truth <= interval.upper { hits += 1 }
            }
        }
        #expect(tries == 2 * seeds)
        // Of 80 intervals for 95 %, fewer than 70 contain the truth in less than one of 10,000 runs.
        #expect(hits >= 70, "\(hits) of \(tries)")
    }

    @Test("retention messages: the first request counts, and an exposure belongs to the request that made it")
    func messages() throws {
        func request(_ day: Double, _ number: Int64?, _ answer: String = "message") -> RetentionSubject.Request {
            RetentionSubject.Request(
                at: Self.time(day), answer: answer, isShown: answer != "nothing", caseNumber: number, rule: "=r")
        }
        func placement(_ day: Double, _ arm: ExposedCustomer.Arm) -> RetentionSubject.Placement {
            RetentionSubject.Placement(at: Self.time(day), productID: "p", offerID: "o", sample: "s", arm: arm)
        }
        var first = RetentionSubject(ReportedSubscription([Self.period(0, 45)]))
        first.requests = [request(20, 2), request(10, 1), request(70, 1), request(12, nil, "nothing")]
        first.turnedOffAt = [Self.time(11)]
        first.placements = [placement(10, .offered), placement(30, .offered)]
        var second = RetentionSubject(ReportedSubscription([Self.period(0, 30)]))
        second.requests = [request(5, 1)]
        second.turnedOffAt = [Self.time(6.1), Self.time(4.9)]
        second.placements = [placement(5.006, .heldOut), placement(5.01, .offered)]
        func messages(_ day: Double) -> RetentionMessages {
            var builder = SubscriptionReportBuilder(Self.question(day))
            for subject in [first, second] { builder.add(subject) }
            return builder.report().messages
        }
        let late = messages(60)
        #expect((late.requests, late.shown) == (4, 3))
        #expect(late.cases.map(\.number) == [1, 2, nil] && late.cases.map(\.outcomes.subscriptions) == [2, 1, 1])
        #expect(late.all.cancelled == Share(1, of: 2) && late.all.stayed == Share(1, of: 2))
        #expect(late.cases[1].outcomes.cancelled == Share(0, of: 1))
        #expect(late.holdouts.map(\.cancelled) == [ByArm(Share(1, of: 1), Share(0, of: 1))])
        #expect(messages(39).all.stayed == Share(0, of: 1) && messages(10.9).all.cancelled == Share(0, of: 1))
        #expect(messages(4).requests == 0 && messages(4).cases.isEmpty)
        var builder = SubscriptionReportBuilder(Self.question(60))
        builder.add(second)
        let report = builder.report()
        let lines = String(decoding: report.csv(only: .messages), as: UTF8.self).split(separator: "\r\n")
        #expect(lines.contains("retention_messages,case 1 message,'=r,,,requests,1,,,"))
        #expect(lines.contains { $0.hasPrefix("retention_holdout,held_out,p o s,,,stayed,0.000000,") })
        #expect(try SubscriptionReport(kept: report.kept)?.messages == report.messages)
        guard case .object(let object) = try JSONReader.read(report.json) else { throw Missing() }
        #expect(object["retentionMessages"] != nil)
    }

    private struct Missing: Error {}

    /// The only holdout among customers of whom every second one, in each arm, turned auto-renew off and left.
    private static func holdout(offered: Int, heldOut: Int, _ planned: Double?) throws -> SubscriptionReport {
        var question = question(60)
        question.plannedShares = planned.map { ["s": $0, "other": 0.1] } ?? [:]
        var builder = SubscriptionReportBuilder(question)
        for (arm, count) in [(ExposedCustomer.Arm.offered, offered), (.heldOut, heldOut)] {
            for number in 0..<count {
                var subject = RetentionSubject(ReportedSubscription([period(0, number % 2 == 0 ? 20 : 50)]))
                subject.requests = [
                    .init(at: time(10), answer: "message", isShown: true, caseNumber: 1, rule: "")
                ]
                subject.placements = [.init(at: time(10), productID: "p", offerID: "o", sample: "s", arm: arm)]
                if number % 2 == 0 { subject.turnedOffAt = [time(10)] }
                builder.add(subject)
            }
        }
        return builder.report()
    }

    @Test("a holdout that was not divided as the rule says has no differences")
    func brokenHoldout() throws {
        let good = try Self.holdout(offered: 90, heldOut: 10, 0.9)
        let broken = try Self.holdout(offered: 60, heldOut: 40, 0.9)
        let unknown = try Self.holdout(offered: 60, heldOut: 40, nil)
        for (report, isBroken) in [(good, false), (broken, true), (unknown, false)] {
            let holdout = try #require(report.messages.holdouts.first)
            #expect((holdout.split?.isBroken ?? false) == isBroken)
            #expect((holdout.stayedDifference == nil) == isBroken && (holdout.cancelledDifference == nil) == isBroken)
            let json = String(decoding: report.json, as: UTF8.self)
            #expect(json.contains(#""broken":\#(isBroken)"#))
            #expect(json.contains(#""cancelled":{"difference":null},"stayed":{"difference":null}"#) == isBroken)
            let csv = String(decoding: report.csv(only: .messages), as: UTF8.self)
            #expect(csv.contains("retention_holdout,difference_always") != isBroken)
        }
        #expect(unknown.messages.holdouts.first?.split == nil)
        let csv = String(decoding: good.csv(only: .messages), as: UTF8.self)
        #expect(csv.contains("retention_holdout,trust,p o s,,,planned_share,0.900000,,,"))
        #expect(csv.contains("retention_holdout,trust,p o s,,,split,1.000000,,,"))
    }

    @Test("the always-valid interval of a holdout is tuned to the share of its sample")
    func plannedSize() throws {
        let half = try #require(try Self.holdout(offered: 50, heldOut: 50, 0.5).messages.holdouts.first)
        var question = ReportQuestion(productID: "p", offerID: "o", sample: "s", asOf: Self.time(0))
        question.plannedShare = 0.5
        #expect(half.plannedSize == question.plannedSize)
        #expect(half.plannedSize < (try Self.holdout(offered: 5, heldOut: 5, 0.9).messages.holdouts[0].plannedSize) / 2)
    }

    @Test("a spreadsheet program gets one number in each line")
    func csv() {
        let report = Self.report([ReportedSubscription([Self.period(34, 64)])], 70)
        let lines = String(decoding: report.csv, as: UTF8.self).split(separator: "\r\n")
        #expect(!lines.contains { $0.hasPrefix("retention_") })
        #expect(lines[0] == "table,by,name,start,after,number,value,lower,upper,subscriptions")
        #expect(lines.allSatisfy { $0.count { $0 == "," } == 9 })
        #expect(lines.contains("period,all,all,2025-02-01,,new,1,,,"))
        #expect(lines.contains { $0.hasPrefix("cohort_incomplete,product,monthly,2025-02-01,1,retention,") })
        let recovery = String(decoding: report.csv(only: .recovery), as: UTF8.self).split(separator: "\r\n")
        #expect(recovery.dropFirst(7).allSatisfy { $0.hasPrefix("recovery,") })
    }
}
