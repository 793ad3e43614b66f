import OfferCore
import TestSupport
import Testing

@testable import OfferReports

@Suite("The comparison with Apple's Subscription Event report")
struct ComparisonTests {
    private typealias Period = ReportedSubscription.Period

    /// 2026-11-01, 12:00 in UTC.
    private static let noon = Timestamp(milliseconds: 1_793_534_400_000)

    private static func time(_ day: Double) -> Timestamp { noon + .milliseconds(Int64((day - 1) * 86_400_000)) }

    private static func period(
        _ start: Double, _ end: Double, _ cause: EndCause = .cancelled, _ change: (inout Period) -> Void = { _ in }
    ) -> Period {
        var period = Period(start: time(start), end: time(end), accessEnd: time(end), cause: cause)
        period.product = "monthly"
        change(&period)
        return period
    }

    private static func failed(_ start: Double, _ end: Double) -> Period {
        period(start, end, .billing) { $0.hasFailed = true }
    }

    private static func renewal(_ start: Double, _ end: Double, _ cause: EndCause = .cancelled) -> Period {
        period(start, end, cause) { $0.isRenewal = true }
    }

    private static func refunded(_ start: Double, _ end: Double, at day: Double) -> Period {
        Period(start: time(start), end: time(end), accessEnd: time(day), cause: .refunded)
    }

    private static func known(_ isFromStart: Bool, _ periods: [Period]) -> ReportedSubscription {
        var subscription = ReportedSubscription(periods)
        subscription.isKnownFromStart = isFromStart
        return subscription
    }

    private static let head = "Event Date\tEvent\tApp Apple ID\tCancellation Reason\tQuantity"

    private static func events(_ lines: [String]) throws -> AppleEvents {
        var reader = AppleEventReader(appAppleID: 5)
        for (number, line) in zip(1..., [head] + lines) { try reader.read(ArraySlice(line.utf8), number: number) }
        return reader.events
    }

    private static func line(_ day: Int, _ event: String, _ quantity: Int, reason: String = "", app: Int = 5) -> String
    {
        "2026-11-\(day < 10 ? "0" : "")\(day)\t\(event)\t\(app)\t\(reason)\t\(quantity)"
    }

    private static func comparison(
        _ lines: [String], _ subscriptions: [ReportedSubscription], _ zone: ReportZone = .pacific, asOf: Double = 60
    ) throws -> ReportComparison {
        var question = SubscriptionQuestion(asOf: time(asOf))
        question.zone = zone
        var days = SubscriptionEventDays(asOf: question.asOf)
        for subscription in subscriptions { days.add(subscription) }
        return ReportComparison(question, try events(lines), days)
    }

    private static func differences(_ comparison: ReportComparison) -> [String] {
        comparison.differences.map { "\($0.day) \($0.event.rawValue) \($0.apple) \($0.here) \($0.cause.rawValue)" }
    }

    @Test("the same events on the same days have no difference, and other events are listed")
    func same() throws {
        let comparison = try Self.comparison(
            [
                Self.line(1, "Subscribe", 1), Self.line(1, "Start Introductory Offer", 1), Self.line(4, "Renew", 1),
                Self.line(4, "Paid Subscription from Introductory Offer", 1),
                Self.line(7, "Cancel", 1, reason: "Canceled"), Self.line(7, "Billing Retry from Paid Subscription", 1),
                Self.line(9, "Renewal from Billing Retry", 1), Self.line(12, "Cancel", 1, reason: "Price Increase"),
                Self.line(20, "Reactivate with Upgrade", 1), Self.line(20, "Refund", 4),
                Self.line(14, "Renew", 1), Self.line(17, "Cancel", 1, reason: "Canceled"),
                Self.line(25, "Cancel", 2, reason: "Billing issue"), Self.line(20, "Subscribe", 9, app: 6),
            ],
            [
                ReportedSubscription([Self.period(1, 4), Self.renewal(4, 7), Self.period(20, 90)]),
                ReportedSubscription([
                    Self.period(1, 4), Self.period(4, 7, .billing) { ($0.isRenewal, $0.hasFailed) = (true, true) },
                    Self.renewal(9, 12, .price),
                ]),
                // A renewal after a refund.
                Self.known(false, [Self.refunded(11, 14, at: 13), Self.renewal(14, 17)]),
            ])
        #expect(Self.differences(comparison) == [])
        #expect(comparison.sentence == "9 days from 2026-11-01 to 2026-11-25: no day differs.")
        #expect(comparison.others.map(\.name) == ["Cancel", "Refund"] && comparison.others.map(\.count) == [2, 4])
        #expect(comparison.otherApps == 1 && comparison.caution == nil)
        #expect(comparison.totals.map(\.here) == [2, 3, 1, 1, 3, 1])
        #expect(comparison.totals.map(\.apple) == comparison.totals.map(\.here))
    }

    @Test("each planted difference is found, with its cause")
    func causes() throws {
        func new(_ day: Double) -> ReportedSubscription { ReportedSubscription([Self.period(day, 90)]) }
        // 2 o'clock in UTC is the day before in Pacific time.
        let night = 5 - 10.0 / 24
        let zones = try Self.comparison(
            [Self.line(4, "Subscribe", 1), Self.line(5, "Subscribe", 0)], [new(night)], .utc)
        #expect(Self.differences(zones) == ["2026-11-04 new 1 0 time_zone", "2026-11-05 new 0 1 time_zone"])
        #expect(try Self.comparison([Self.line(4, "Subscribe", 1)], [new(night)]).differences.isEmpty)
        let next = try Self.comparison([Self.line(4, "Subscribe", 1), Self.line(5, "Subscribe", 0)], [new(5)])
        #expect(Self.differences(next) == ["2026-11-04 new 1 0 next_day", "2026-11-05 new 0 1 next_day"])
        let retry = try Self.comparison(
            [Self.line(9, "Reactivate", 1), Self.line(7, "Cancel", 1)],
            [ReportedSubscription([Self.failed(1, 7), Self.renewal(9, 90)])])
        #expect(
            Self.differences(retry) == [
                "2026-11-07 cancelled 1 0 billing_retry", "2026-11-07 in_retry 0 1 billing_retry",
                "2026-11-09 recovered 0 1 billing_retry", "2026-11-09 resubscribed 1 0 billing_retry",
            ])
        let missing = try Self.comparison(
            [Self.line(4, "Subscribe", 3), Self.line(20, "Subscribe", 0)], [new(4), new(20)])
        #expect(
            Self.differences(missing) == ["2026-11-04 new 3 1 missing_here", "2026-11-20 new 0 1 missing_at_apple"])
        // The Pacific day ends at 8 o'clock in UTC, and its report is complete three days later.
        for (asOf, cause) in [(7.8, "incomplete"), (7.9, "missing_here")] {
            let running = try Self.comparison([Self.line(4, "Subscribe", 1)], [], asOf: asOf)
            #expect(Self.differences(running) == ["2026-11-04 new 1 0 \(cause)"])
        }
    }

    @Test("a fiscal month is named, and a calendar month is not")
    func fiscalMonth() throws {
        func caution(_ days: ClosedRange<Int>) throws -> String? {
            try Self.comparison(days.map { Self.line($0, "Subscribe", 0) }, []).caution
        }
        // 1 November 2026 is a Sunday, but it begins a calendar month. 2 November is a Monday.
        #expect(try caution(1...28) == nil)
        #expect(try caution(2...29) == nil)
        let fiscal =
            (25...31).map { "2026-10-\($0)\tSubscribe\t5\t\t0" } + (1...21).map { Self.line($0, "Subscribe", 0) }
        #expect(
            try Self.comparison(fiscal, []).caution
                == "2026-10-25 to 2026-11-21 is one of Apple's fiscal months. Do not compare its sums with a calendar month."
        )
    }

    @Test(
        "a wrong line is named with its number",
        arguments: [
            (["2026-11-31\tSubscribe\t5\t\t1"], 2, "Event Date is not a date such as 2026-11-20"),
            (["11/01/2026\tSubscribe\t5\t\t1"], 2, "Event Date is not a date such as 2026-11-20"),
            (
                ["2026-11-01\tSubscribe\t5\t\t1", "2026-11-01\tSubscribe\t5\t1"], 3,
                "the line has 4 columns, and the head has 5"
            ),
            (["2026-11-01\t\t5\t\t1"], 2, "Event is empty"),
            (["2026-11-01\tSubscribe\tx\t\t1"], 2, "App Apple ID is not"),
            (["2026-11-01\tSubscribe\t5\t\t-1"], 2, "Quantity is not"),
            (["2026-11-01\tSubscribe\t5\t\t"], 2, "Quantity is not"),
            (["2026-11-01\tSubscribe\t5\t\t1000000001"], 2, "Quantity is not"),
        ])
    func faults(lines: [String], line: Int, text: String) {
        do {
            _ = try Self.events(lines)
            Issue.record("no fault")
        } catch let failure as AppleEventReader.Failure {
            #expect(failure.line == line && failure.text.hasPrefix(text), "\(failure)")
        } catch { Issue.record("\(error)") }
    }

    @Test("a wrong head is named")
    func heads() {
        for (head, text) in [
            (
                "Event\tApp Apple ID\tQuantity",
                "no column is named Event Date; the file is no Subscription Event report"
            ),
            ("Event Date\tEvent\tEvent\tApp Apple ID\tQuantity", "two columns are named Event"),
        ] {
            var reader = AppleEventReader(appAppleID: 5)
            #expect(throws: AppleEventReader.Failure(line: 1, text: text)) {
                try reader.read(ArraySlice(head.utf8), number: 1)
            }
        }
        var reader = AppleEventReader(appAppleID: 5)
        #expect(throws: AppleEventReader.Failure(line: 1, text: "the file is compressed; unpack it with gunzip")) {
            try reader.read([0x1F, 0x8B, 8], number: 1)
        }
        #expect(throws: AppleEventReader.Failure(line: 1, text: "the text is not UTF-8")) {
            try reader.read([0xFF], number: 1)
        }
    }

    @Test("the order of subscriptions and lines changes no byte, and the formats have the same numbers")
    func formats() throws {
        var random = SplitMix64(seed: 4)
        let subscriptions = (0..<60).map { number in
            let start = Double.random(in: 1..<4, using: &random)
            return ReportedSubscription([Self.failed(start, start + 3), Self.renewal(start + 4, start + 9)])
        }
        let lines = (1...9).flatMap { day in
            ["Subscribe", "Renewal from Billing Retry", "Cancel", "Refund"].map {
                Self.line(day, $0, Int.random(in: 0...4, using: &random))
            }
        }
        let first = try Self.comparison(lines, subscriptions)
        let second = try Self.comparison(lines.reversed(), subscriptions.shuffled(using: &random))
        #expect(first.json == second.json && first.csv == second.csv && !first.differences.isEmpty)
        let csv = String(decoding: first.csv, as: UTF8.self).split(separator: "\r\n")
        #expect(csv.count { $0.hasPrefix("day,") } == first.differences.count)
        guard case .object(let object) = try JSONReader.read(first.json),
            case .array(let rows)? = object["differences"]
        else { throw Missing() }
        #expect(rows.count == first.differences.count)
    }

    private struct Missing: Error {}
}
