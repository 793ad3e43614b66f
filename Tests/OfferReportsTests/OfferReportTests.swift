import OfferCore
import TestSupport
import Testing

@testable import OfferReports

@Suite("The report of an offer")
struct OfferReportTests {
    private static let day: Int64 = 86_400_000
    private static let start = Timestamp(milliseconds: 1_700_006_400_000)  // 2023-11-15

    private static func time(_ day: Double) -> Timestamp { start + .milliseconds(Int64(day * Double(Self.day))) }

    private static func question(_ day: Double) -> ReportQuestion {
        ReportQuestion(productID: "pro.monthly", offerID: "winback", sample: "spring", asOf: time(day))
    }

    /// A redeemer whose access ended on day 40.
    private static var redeemer: ExposedCustomer {
        var customer = ExposedCustomer(arm: .offered, exposedAt: time(0))
        customer.channel = "decision"
        customer.rule = "win_back"
        customer.storefront = "USA"
        customer.signedAt = [time(0), time(1)]
        customer.shownAt = time(1)
        customer.redeemedAt = time(2)
        customer.access = [AccessSpan(start: time(2), end: time(40), cause: .billing)]
        customer.renewedAt = [time(32)]
        customer.payments = [
            Payment(at: time(2), currency: "USD", amount: 4990), Payment(at: time(32), currency: "USD", amount: 9990),
            Payment(at: time(39), currency: "USD", amount: -9990),
        ]
        customer.afterDiscount = .kept
        return customer
    }

    @Test("the funnel counts customers and signatures, and nothing after the report's time")
    func funnel() {
        func funnel(_ day: Double) -> OfferReport.Funnel { OfferReport(Self.question(day), [Self.redeemer]).funnel }
        #expect(funnel(-1).exposed == ByArm(0, 0))
        let early = funnel(0.5)
        #expect((early.signed, early.signatures, early.shown, early.redeemed) == (1, 1, 0, 0))
        let late = funnel(60)
        #expect((late.signed, late.signatures, late.shown, late.redeemed) == (1, 2, 1, 1))
        #expect(late.kept == Share(1, of: 1))
    }

    @Test("access counts among those exposed long enough ago, from the start of a span to before its end")
    func access() {
        let report = OfferReport(Self.question(41), [Self.redeemer])
        let access = Dictionary(uniqueKeysWithValues: report.access.map { ($0.day, $0.arms.offered) })
        #expect(access[0] == Share(0, of: 1))
        #expect(access[6] == Share(1, of: 1))
        #expect(access[36] == Share(1, of: 1))
        #expect(access[42] == Share(0, of: 0))
        #expect(
            OfferReport(Self.question(42), [Self.redeemer]).access.first { $0.day == 42 }?.arms.offered
                == Share(0, of: 1))
    }

    @Test("payments are added up to the day, less refunds")
    func paid() {
        var question = Self.question(50)
        question.horizon = 40
        let rows = OfferReport(question, [Self.redeemer, ExposedCustomer(arm: .offered, exposedAt: Self.time(0))]).paid
        #expect(rows.map(\.currency) == ["USD", "USD"])
        #expect(rows.map(\.day) == [30, 40])
        #expect(rows.map(\.arms.offered.mean) == [2495, 2495])
        #expect(rows.map(\.arms.offered.count) == [2, 2])
        #expect(rows.map(\.verdict) == [.noHoldout, .noHoldout])
    }

    @Test("a redeemer is followed from the redemption to the end of access, or to the report")
    func retention() {
        let ended = OfferReport(Self.question(60), [Self.redeemer]).retention
        #expect(ended.byDay.map(\.place) == [1, 7, 14, 30])
        #expect(ended.byDay.map(\.atRisk) == [1, 1, 1, 1])
        #expect(ended.byRenewal.map(\.kept.value) == [1, 0])
        #expect(ended.byRenewal.last?.ended[.billing]?.value == 1)
        let running = OfferReport(Self.question(20), [Self.redeemer]).retention
        #expect(running.byDay.map(\.kept.value) == [1, 1, 1])
        #expect(running.byRenewal.isEmpty)
    }

    /// A customer with a number on some days.
    private static func customer(
        _ arm: ExposedCustomer.Arm, exposed day: Double = 0, _ steps: [(Double, FactHistory.Value)]
    ) -> ExposedCustomer {
        var customer = ExposedCustomer(arm: arm, exposedAt: time(day))
        customer.facts = ["episodes": FactHistory(steps: steps.map { FactHistory.Step(at: time($0.0), value: $0.1) })]
        return customer
    }

    @Test("a fact counts as it was on the day, and a customer without a number counts as 0")
    func engagement() throws {
        var question = Self.question(60)
        question.tracked = ["episodes", "unused"]
        let customers = [
            Self.customer(.offered, [(-5, .number(2000)), (30, .number(7500)), (31, .number(99_000))]),
            Self.customer(.offered, [(1, .number(3000)), (2, .none)]), Self.customer(.offered, [(10, .other)]),
            Self.customer(.heldOut, [(-1, .number(1000))]), Self.customer(.heldOut, []),
            // Exposed too recently.
            Self.customer(.offered, exposed: 31, [(31, .number(5000))]),
        ]
        let report = OfferReport(question, customers)
        let (episodes, unused) = (report.engagement[0], report.engagement[1])
        #expect(episodes.arms == ByArm(Share(2, of: 3), Share(1, of: 2)))
        let numbers = try #require(episodes.numbers)
        #expect(numbers.mean == ByArm(SampleMoments([7500], of: 3), SampleMoments([1000], of: 2)))
        #expect(numbers.change == ByArm(SampleMoments([5500], of: 3), SampleMoments([], of: 2)))
        let welch = Difference(
            SampleMoments([7500], of: 3), SampleMoments([1000], of: 2), plannedSize: question.plannedSize)
        #expect(numbers.meanDifference == welch && welch?.once != nil)
        #expect(unused.numbers == nil && unused.arms == ByArm(Share(0, of: 3), Share(0, of: 2)))
        // The day on which the last customers of the cohort were exposed 30 days ago is day 35.
        for (day, isComplete) in [(34.9, false), (35.0, true)] {
            question = Self.question(day)
            question.tracked = ["episodes"]
            let cohorts = OfferReport(question, customers).engagement[0].cohorts
            #expect(cohorts.map(\.start) == ["2023-11-13"] && cohorts.map(\.isComplete) == [isComplete])
            #expect(cohorts.first?.mean?.offered.mean == 2500)
        }
    }

    @Test("sums of numbers are exact, and huge numbers count like the largest")
    func sums() {
        var random = SplitMix64(seed: 3)
        let amounts = (0..<500).map { _ in Int64.random(in: -9_000_000...9_000_000, using: &random) }
        var sums = ExactSums()
        for amount in amounts { sums.add(amount) }
        let (found, known) = (sums.moments, SampleMoments(amounts, of: amounts.count))
        #expect(found.mean == known.mean && abs(found.variance / known.variance - 1) < 1e-12)
        #expect(FactHistory.Value(1e300) == .number(1_000_000_000_000))
        #expect(FactHistory.Value(-.infinity) == .number(-1_000_000_000_000))
        #expect(FactHistory.Value(1.0005) == .number(1001) && FactHistory.Value(.nan) == .none)
    }

    @Test("an erased customer is only an exposure")
    func erasure() {
        var customer = Self.redeemer
        customer.isErased = true
        let report = OfferReport(Self.question(60), [customer])
        #expect(report.funnel.exposed == ByArm(1, 0))
        #expect(report.funnel.erased == ByArm(1, 0))
        #expect(report.funnel.redeemed == 0)
        #expect(report.access.allSatisfy { $0.arms.offered.total == 0 })
        #expect(report.cohorts.first?.outcomes.converted.offered == Share())
        #expect(report.retention.count == 0)
    }

    @Test("a cohort counts in totals only when all of its customers were exposed long enough ago")
    func cohorts() throws {
        // The Monday after the exposure is day 5.
        for (day, isComplete) in [(11.9, false), (12.0, true)] {
            let report = OfferReport(Self.question(day), [Self.redeemer])
            let cohort = try #require(report.cohorts.first)
            #expect(cohort.start == "2023-11-13")
            #expect(cohort.isConversionComplete == isComplete)
            #expect(!cohort.isAccessComplete)
            #expect(report.total.converted.offered == (isComplete ? Share(1, of: 1) : Share()))
            #expect(report.total.exposed.offered == (isComplete ? 1 : 0))
            #expect(report.groups.map(\.kind) == [.channel, .rule, .storefront])
            #expect(report.groups.allSatisfy { $0.outcomes == report.total })
        }
    }

    @Test("access that ends and begins again is churn and a return")
    func churn() {
        var customer = Self.redeemer
        customer.access.append(AccessSpan(start: Self.time(50), end: Self.time(90), cause: .other))
        var question = Self.question(60)
        question.span = .month
        let churn = OfferReport(question, [customer]).churn
        #expect(churn.map(\.start) == ["2023-11-01", "2023-12-01", "2024-01-01"])
        #expect(churn.map(\.ended) == [Share(), Share(1, of: 1), Share()])
        #expect(churn.map(\.resubscribed) == [0, 0, 1])
        #expect(churn.map(\.isComplete) == [true, true, false])
    }

    @Test("only both intervals together say clear, and never with a broken split")
    func verdicts() {
        func verdict(_ one: Share, _ other: Share, isBroken: Bool = false) -> Verdict {
            Verdict(
                Difference(one, other, plannedSize: 24_000), ByArm(one.total, other.total), isBroken: isBroken,
                smallest: 0.03, more: 4000)
        }
        #expect(verdict(Share(500, of: 1000), Share(400, of: 1000)) == .clear(isGain: true))
        #expect(verdict(Share(400, of: 1000), Share(500, of: 1000)) == .clear(isGain: false))
        #expect(verdict(Share(500, of: 1000), Share(450, of: 1000)) == .notClear(more: 4000))
        #expect(verdict(Share(500, of: 1000), Share(400, of: 1000), isBroken: true) == .broken)
        #expect(verdict(Share(500_000, of: 1_000_000), Share(500_100, of: 1_000_000)) == .small)
        // Without variance in one arm, the always-valid interval is far too narrow.
        #expect(verdict(Share(60, of: 1000), Share(0, of: 5)) == .notClear(more: 4000))
        #expect(verdict(Share(1, of: 2), Share()) == .noHoldout)
        // A broken split is reported even before the arms can be compared.
        #expect(verdict(Share(1, of: 2), Share(), isBroken: true) == .broken)
        #expect(Verdict(nil, ByArm(9000, 1000), isBroken: false, smallest: 0.03, more: nil) == .tooEarly)
    }

    @Test("a split is broken only if enough customers were expected in each arm")
    func smallSplits() {
        #expect(!SplitTest(Share(0, of: 1), planned: 0.95).isBroken)
        #expect(!SplitTest(Share(45, of: 50), planned: 0.99).isBroken)
        #expect(SplitTest(Share(60, of: 100), planned: 0.95).isBroken)
        #expect(SplitTest(Share(10_000, of: 10_000), planned: 0.9).isBroken)
    }

    @Test("the number of customers that are needed is unknown while all of an arm have the same outcome")
    func needed() {
        var other = Self.redeemer
        other.access = []
        #expect(OfferReport(Self.question(60), [Self.redeemer, other]).trust.needed == nil)
    }

    @Test("access that ends exactly with a period ends in that period")
    func endOfPeriod() throws {
        var customer = Self.redeemer
        var question = Self.question(60)
        question.span = .month
        // Day 17 is 1 December 2023.
        let start = try #require(customer.access.first?.start)
        let december = ReportZone.utc.time(local: CivilDay(year: 2024, month: 1, day: 1).start)
        customer.access = [AccessSpan(start: start, end: december, cause: .other)]
        let churn = OfferReport(question, [customer]).churn
        #expect(churn.map(\.ended.count).reduce(0, +) == 1)
    }

    @Test("the order of customers makes no difference to any byte", arguments: 0..<5 as Range<UInt64>)
    func order(seed: UInt64) {
        var population = Population()
        population.customers = 400
        var customers = population.draw(seed: seed)
        let first = OfferReport(population.question, customers)
        var random = SplitMix64(seed: seed)
        for _ in 0..<3 {
            customers.shuffle(using: &random)
            let report = OfferReport(population.question, customers)
            #expect(report.json == first.json)
            #expect(report.csv == first.csv)
        }
    }

    @Test("a kept report is the same report to the last bit")
    func keeping() throws {
        var population = Population()
        population.customers = 300
        let report = OfferReport(population.question, population.draw(seed: 1))
        let kept = try report.kept
        let again = try #require(OfferReport(kept: kept))
        #expect(again.json == report.json && again.csv == report.csv)
        #expect(again.engagement == report.engagement && !report.engagement.isEmpty)
        #expect(again.effect == report.effect && again.paid == report.paid && again.trust == report.trust)
        #expect(OfferReport(kept: Array(kept.dropLast())) == nil && OfferReport(kept: Array("{}".utf8)) == nil)
    }

    @Test("a part of the CSV has the lines of its table, and all parts together have all lines")
    func parts() {
        var population = Population()
        population.customers = 300
        let report = OfferReport(population.question, population.draw(seed: 1))
        func lines(_ utf8: [UInt8]) -> [String] {
            String(decoding: utf8, as: UTF8.self).split(separator: "\r\n").dropFirst().map(String.init)
                // What the report is about is in every part.
                .filter { !$0.hasPrefix("report,") }
        }
        let parts = OfferReport.Table.allCases.map { lines(report.csv(only: $0)) }
        #expect(parts.allSatisfy { !$0.isEmpty })
        #expect(parts.joined().sorted() == lines(report.csv).sorted())
    }

    @Test("the sentence says how many more customers are needed")
    func sentence() {
        var population = Population()
        population.redeeming = 0.05
        let report = OfferReport(population.question, population.draw(seed: 1))
        #expect(report.sentence.contains(/Not clear yet: about \d+,000 more customers are needed to see 3.0 points\./))
    }

    @Test(
        "numbers have fixed digits",
        arguments: [
            (0.0, 2, "0.00"), (-0.001, 2, "0.00"), (-1.005, 1, "-1.0"), (12_345.678_9, 3, "12345.679"), (.nan, 2, "0"),
        ])
    func fixedDigits(value: Double, decimals: Int, text: String) {
        #expect(FixedText.number(value, decimals: decimals) == text)
    }

    @Test("CSV quotes texts, and marks those that look like formulas")
    func csv() {
        var customer = Self.redeemer
        customer.rule = "=1+1,\"a\""
        let text = String(decoding: OfferReport(Self.question(60), [customer]).csv, as: UTF8.self)
        #expect(text.contains("rule,\"'=1+1,\"\"a\"\"\",offered,exposed,1,,,\r\n"))
        #expect(text.contains("access,36,offered,access,1.000000,0.206549,1.000000,1\r\n"))
    }

    @Test("the JSON is strict JSON, and has the definitions")
    func json() throws {
        let value = try JSONReader.read(OfferReport(Self.question(60), [Self.redeemer]).json)
        guard case .object(let object) = value else { throw Missing() }
        #expect(object["definitions"] != nil)
        #expect(object["sentence"] != nil)
    }

    private struct Missing: Error {}
}
