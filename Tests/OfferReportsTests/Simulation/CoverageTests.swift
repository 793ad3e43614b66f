import Foundation
import OfferCore
import OfferReports
import Testing

/// Intervals against the truth, over many simulated populations.
///
/// `OFFER_REPORT_SEEDS=2000 OFFER_REPORT_CUSTOMERS=2000` makes the long run of about ten minutes. With fewer seeds, the bounds
/// are wider than two points: three standard errors.
@Suite("Intervals and the truth")
struct CoverageTests {
    private static let seeds = environment("OFFER_REPORT_SEEDS") ?? 40
    private static let customers = environment("OFFER_REPORT_CUSTOMERS") ?? 1000

    private static func environment(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// How often each interval contained the truth.
    private struct Coverage {
        var hits: [String: Int] = [:]
        var tries: [String: Int] = [:]

        mutating func add(_ name: String, _ interval: Interval?, _ truth: Double) {
            tries[name, default: 0] += 1
            guard let interval, interval.lower <= truth, truth <= interval.upper else { return }
            hits[name, default: 0] += 1
        }

        func share(_ name: String) -> Double { Double(hits[name] ?? 0) / Double(tries[name] ?? 1) }
    }

    @Test("the stated intervals contain the truth in 93 to 97 % of populations")
    func coverage() throws {
        var population = Population()
        population.customers = Self.customers
        var coverage = Coverage()
        for seed in 0..<Self.seeds {
            let report = OfferReport(population.question, population.draw(seed: UInt64(seed)))
            add(report, population, to: &coverage)
        }
        // At 400 seeds, a right interval misses the range of two points in 7 % of runs by chance; at 2000, in 0.01 %.
        let slack = max(0.02, 3 * (0.95 * 0.05 / Double(Self.seeds)).squareRoot())
        for name in coverage.tries.keys.sorted() {
            let share = coverage.share(name)
            print("coverage of \(name): \(coverage.hits[name] ?? 0) of \(coverage.tries[name] ?? 0)")
            if name.hasPrefix("always") {
                #expect(share >= 0.95 - slack, "\(name): \(share)")
            } else {
                #expect(abs(share - 0.95) <= slack, "\(name): \(share)")
            }
        }
        #expect(coverage.tries.count == 12)
    }

    private func add(_ report: OfferReport, _ population: Population, to coverage: inout Coverage) {
        for day in [30, 90] {
            let row = report.access.first { $0.day == day }
            coverage.add(
                "access on day \(day), offered", row?.arms.offered.interval,
                population.access(.offered, day: Double(day)))
            coverage.add(
                "access on day \(day), held out", row?.arms.heldOut.interval,
                population.access(.heldOut, day: Double(day)))
        }
        let effect = population.access(.offered, day: 30) - population.access(.heldOut, day: 30)
        coverage.add("effect on access", report.effect.difference?.once, effect)
        coverage.add("always-valid effect on access", report.effect.difference?.always, effect)
        let paid = population.paid(.offered, day: 180) - population.paid(.heldOut, day: 180)
        let row = report.paid.first { $0.day == 180 }
        coverage.add("effect on paid", row?.difference?.once, paid)
        coverage.add("always-valid effect on paid", row?.difference?.always, paid)
        for day in [90, 365] {
            let row = report.retention.byDay.first { $0.place == day }
            coverage.add("retention on day \(day)", row?.kept.interval, population.retention(day: Double(day)))
            coverage.add(
                "cancelled by day \(day)", row?.ended[.cancelled]?.interval, population.cancelled(day: Double(day)))
        }
    }

    @Test("without an effect, a look on each of 60 days says clear in at most 5 % of populations")
    func dailyLooks() {
        var population = Population()
        population.customers = 4000
        population.days = 90
        population.redeeming = 0
        let seeds = Self.seeds
        var (clear, fixed) = (0, 0)
        for seed in 0..<seeds {
            let customers = population.draw(seed: UInt64(1_000_000 + seed))
            var (isClear, isFixed) = (false, false)
            for arms in access(customers, at: (31...90).map { Population.start + .days($0) }) {
                let difference = arms.difference(plannedSize: population.question.plannedSize)
                isClear =
                    isClear || difference?.once?.excludesZero ?? false && difference?.always?.excludesZero ?? false
                isFixed = isFixed || difference?.once?.excludesZero ?? false
            }
            if isClear { clear += 1 }
            if isFixed { fixed += 1 }
        }
        print("daily looks: clear \(clear) of \(seeds); by the interval for one look \(fixed) of \(seeds)")
        #expect(Double(clear) <= 0.05 * Double(seeds))
        // The interval for one look would raise far more false alarms, so this test can fail.
        #expect(Double(fixed) > 0.1 * Double(seeds))
    }

    /// Returns the access on day 30 of those exposed at least 30 days before each time, as reports at those times count it.
    private func access(_ customers: [ExposedCustomer], at times: [Timestamp]) -> [ByArm<Share>] {
        let known = customers.filter { !$0.isErased }.map { customer in
            let day = customer.exposedAt + .days(30)
            return (at: day, arm: customer.arm, has: customer.access.contains { $0.start <= day && day < $0.end })
        }.sorted { $0.at < $1.at }
        var (arms, place) = (ByArm(Share(), Share()), 0)
        return times.map { time in
            while place < known.count, known[place].at <= time {
                arms[known[place].arm].total += 1
                if known[place].has { arms[known[place].arm].count += 1 }
                place += 1
            }
            return arms
        }
    }

    @Test("the short way of the daily looks counts what a report counts")
    func shortWay() {
        var population = Population()
        population.days = 90
        population.redeeming = 0
        let customers = population.draw(seed: 7)
        var question = population.question
        for day in [31, 60, 90] {
            question = ReportQuestion(
                productID: "pro.monthly", offerID: "winback", sample: "spring", asOf: Population.start + .days(day))
            #expect([OfferReport(question, customers).effect.arms] == access(customers, at: [question.asOf]))
        }
    }

    @Test("a broken split is reported, and nothing is clear then")
    func brokenSplit() {
        var population = Population()
        population.customers = 5000
        population.redeeming = 0.8
        population.lost = 0.25
        for seed in 0..<UInt64(2) {
            let report = OfferReport(population.question, population.draw(seed: seed))
            #expect(report.trust.isBroken)
            #expect(report.effect.verdict == .broken)
        }
        population.lost = 0
        for seed in 0..<UInt64(2) {
            let report = OfferReport(population.question, population.draw(seed: seed))
            #expect(!report.trust.isBroken)
            #expect(report.effect.verdict == .clear(isGain: true))
        }
    }
}
