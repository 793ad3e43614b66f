import Foundation
import OfferCore
import TestSupport
import Testing

@testable import OfferReports

/// Computes the numbers in docs/reports.md.
@Suite("docs/reports.md")
struct ReportsPageTests {
    private let text: String
    private let rows: [[String]]

    init() throws {
        text = try String(
            contentsOf: MarkdownBlock.repository.appending(path: "docs/reports.md"), encoding: .utf8
        ).split(separator: "\n", omittingEmptySubsequences: false).joined(separator: " ")
        rows = try MarkdownPage("docs/reports.md").rows
    }

    private static let question: ReportQuestion = {
        var question = ReportQuestion(
            productID: "p", offerID: "o", sample: "s", asOf: Timestamp(milliseconds: 40 * 86_400_000))
        question.plannedShare = 0.9
        return question
    }()

    /// The report about customers who were exposed on one day.
    private static func report(offered: Share, heldOut: Share) -> OfferReport {
        var builder = OfferReportBuilder(question)
        for (arm, share) in [(ExposedCustomer.Arm.offered, offered), (.heldOut, heldOut)] {
            for number in 0..<share.total {
                var customer = ExposedCustomer(arm: arm, exposedAt: Timestamp(milliseconds: 0))
                if number < share.count {
                    customer.access = [AccessSpan(start: customer.exposedAt, end: .max, cause: .other)]
                }
                builder.add(customer)
            }
        }
        return builder.report()
    }

    private func value(_ name: String) -> String? { rows.first { $0[0] == name }?[1] }

    private static func points(_ interval: Interval?) -> String {
        "\(FixedText.points(interval?.lower ?? 0)) to \(FixedText.points(interval?.upper ?? 0))"
    }

    @Test("each definition is that of the program")
    func definitions() {
        for definition in ReportDefinition.allCases {
            #expect(value(definition.rawValue) == definition.text(Self.question), "\(definition)")
        }
    }

    @Test("each definition about subscriptions is that of the program")
    func subscriptionDefinitions() {
        for definition in SubscriptionDefinition.allCases {
            #expect(rows.contains([definition.rawValue, definition.text]), "\(definition)")
        }
    }

    @Test("each definition beside Apple's and RevenueCat's is that of the program")
    func definitionComparison() {
        let plain = rows.map { $0.map { $0.filter { $0 != "`" && $0 != "*" } } }
        for number in DefinitionComparison.allCases {
            #expect(
                plain.contains([number.rawValue, number.here, number.atApple, number.atRevenueCat]), "\(number)")
        }
        let documented = plain.filter { $0.count == 4 && !["number", "---"].contains($0[0]) }
        #expect(documented.count == DefinitionComparison.allCases.count)
    }

    @Test("each compared event and each cause is that of the program")
    func comparison() {
        for event in ComparedEvent.allCases {
            #expect(rows.contains([event.rawValue, event.here, event.atApple]), "\(event)")
        }
        for cause in ReportComparison.Cause.allCases {
            #expect(
                rows.contains([
                    cause.rawValue, cause.text.replacing("--time-zone pacific", with: "`--time-zone pacific`"),
                ]), "\(cause)")
        }
    }

    @Test("the worked example has the numbers of a report")
    func example() throws {
        let report = Self.report(offered: Share(2385, of: 4500), heldOut: Share(225, of: 500))
        for (name, share) in [("offered", report.effect.arms.offered), ("held out", report.effect.arms.heldOut)] {
            let shown = "\(FixedText.points(try #require(share.value))) %, from \(Self.points(share.interval)) %"
            #expect(value("access, \(name)") == shown)
        }
        let difference = try #require(report.effect.difference)
        #expect(value("difference") == "\(FixedText.points(difference.value)) points")
        #expect(value("95 % if you look once") == "\(Self.points(difference.once)) points")
        #expect(value("at any number of looks") == "\(Self.points(difference.always)) points")
        #expect(value("verdict") == report.sentence)
        let less = Self.report(offered: Share(2295, of: 4500), heldOut: Share(225, of: 500))
        #expect(text.contains("\"\(less.sentence)\""), "\(less.sentence)")
        #expect(text.contains("single look, \(Self.points(less.effect.difference?.once)) points"))
        #expect(SplitTest(Share(4650, of: 5000), planned: 0.9).isBroken)
    }

    @Test("the example of engagement has the numbers of a report")
    func engagementExample() throws {
        var question = Self.question
        question.tracked = ["episodesWatched"]
        var builder = OfferReportBuilder(question)
        for (arm, count, most) in [(ExposedCustomer.Arm.offered, 4500, 25), (.heldOut, 500, 20)] {
            for number in 0..<count {
                var customer = ExposedCustomer(arm: arm, exposedAt: Timestamp(milliseconds: 0))
                // A tenth of the customers have watched nothing, and the others 1 to 25 or 1 to 20 episodes.
                let watched = FactHistory.Value(Double(number / 10 % most + 1))
                let step = FactHistory.Step(at: customer.exposedAt, value: watched)
                if number % 10 > 0 { customer.facts = ["episodesWatched": FactHistory(steps: [step])] }
                builder.add(customer)
            }
        }
        let fact = builder.report().engagement[0]
        let numbers = try #require(fact.numbers)
        func amounts(_ interval: Interval?) -> String {
            "\(FixedText.amount(interval?.lower ?? 0)) to \(FixedText.amount(interval?.upper ?? 0))"
        }
        let (mean, difference) = (numbers.mean, try #require(numbers.meanDifference))
        #expect(
            value("mean of `episodesWatched`, offered and held out")
                == "\(FixedText.amount(mean.offered.mean)) and \(FixedText.amount(mean.heldOut.mean))")
        #expect(
            value("difference of the means")
                == "\(FixedText.amount(difference.value)): \(amounts(difference.once)) if you look once, "
                + "\(amounts(difference.always)) at any number of looks")
        let shares = [fact.arms.offered, fact.arms.heldOut].map { "\(FixedText.points($0.value ?? 0)) %" }
        #expect(
            value("customers with `episodesWatched`, offered and held out") == shares.joined(separator: " and "))
    }

    @Test("the example of retention messages has the numbers of a report")
    func retentionExample() throws {
        let start = Timestamp(milliseconds: 0)
        var question = SubscriptionQuestion(asOf: start.adding(days: 40))
        question.plannedShares = ["s": 0.9]
        var builder = SubscriptionReportBuilder(question)
        for (arm, count, cancelled, stayed) in [
            (ExposedCustomer.Arm.offered, 1800, 540, 1170), (.heldOut, 200, 100, 100),
        ] {
            for number in 0..<count {
                let end = start.adding(days: number < stayed ? 60 : 20)
                var subject = RetentionSubject(
                    ReportedSubscription([.init(start: start, end: end, accessEnd: end, cause: .cancelled)]))
                subject.requests = [.init(at: start, answer: "message", isShown: true, caseNumber: 1, rule: "")]
                subject.placements = [.init(at: start, productID: "p", offerID: "o", sample: "s", arm: arm)]
                if number < cancelled { subject.turnedOffAt = [start] }
                builder.add(subject)
            }
        }
        let holdout = try #require(builder.report().messages.holdouts.first)
        for (name, found) in [
            ("turned off within a day", holdout.cancelledDifference), ("stayed", holdout.stayedDifference),
        ] {
            let difference = try #require(found)
            #expect(
                value("\(name), difference")
                    == "\(FixedText.points(difference.value)) points: \(Self.points(difference.once)) if you look once, "
                    + "\(Self.points(difference.always)) at any number of looks")
        }
    }

    @Test("the numbers of customers that a campaign needs are right")
    func needed() throws {
        let once = Self.question.plannedSize
        #expect((23_500...24_500).contains(once))
        let variance = 0.25 / 0.09
        let always = try #require(SampleSize.forAnyLook(effect: 0.03, variance: variance, plannedSize: once))
        #expect((1.8...2.2).contains(always / once))
        let point = SampleSize.forOneLook(effect: 0.01, base: 0.5, heldOut: 0.1)
        #expect((8.5...9.5).contains(point / once))
    }
}
