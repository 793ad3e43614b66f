import Foundation
import OfferCore
import Testing

@testable import OfferReports

/// The numbers of reports, against the results of lifelines, statsmodels, scipy and gbstats.
@Suite("Agreement with statistics packages")
struct PeerTests {
    struct Case: CustomTestStringConvertible {
        let name: String
        let input: [String]
        let expected: [Double]

        var testDescription: String { "\(name) \(input.joined(separator: " "))" }
    }

    /// The recorded cases; those of `OFFER_REPORT_CASES` if it is set, as scripts/report-peer does.
    static let cases: [Case] = {
        let path =
            ProcessInfo.processInfo.environment["OFFER_REPORT_CASES"]
            ?? URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Peer/recorded.txt").path
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "\t")
            return Case(
                name: String(parts[0]), input: parts[1].split(separator: " ").map(String.init),
                expected: parts[2].split(separator: " ").compactMap { Double($0) })
        }
    }()

    @Test("each number is that of the package, to 1e-9")
    func numbersAgree() throws {
        var kinds: Set<String> = []
        for known in Self.cases {
            let found = try Self.result(of: known)
            try #require(found.count == known.expected.count, "\(known.testDescription)")
            for (one, other) in zip(found, known.expected) {
                let distance = abs(one - other) / max(1, abs(other))
                #expect(distance < 1e-9, "\(known.testDescription): \(found), not \(known.expected)")
            }
            kinds.insert(known.name)
        }
        #expect(
            kinds == [
                "wilson", "newcombe", "welch", "student", "split", "size", "survival", "incidence", "always_shares",
                "always_means", "ratio",
            ])
    }

    private static func result(of known: Case) throws -> [Double] {
        let input = known.input
        func number(_ place: Int) throws -> Double { try #require(Double(input[place])) }
        func share(_ place: Int) throws -> Share { Share(Int(try number(place)), of: Int(try number(place + 1))) }
        func sample(_ place: Int) throws -> SampleMoments {
            let amounts = input[place].split(separator: ",").compactMap { Int64($0) }
            return SampleMoments(amounts.filter { $0 != 0 }, of: amounts.count)
        }
        func observations() -> [Observation<Int, Int>] {
            input[0].split(separator: ",").map { pair in
                let parts = pair.split(separator: ":").compactMap { Int($0) }
                return Observation(parts[0], parts[1] == 0 ? nil : parts[1])
            }
        }
        switch known.name {
        case "wilson": return ends(try share(0).interval)
        case "newcombe": return ends(Difference(try share(0), try share(2), plannedSize: 5000)?.once)
        case "welch":
            let difference = try #require(Difference(try sample(0), try sample(1), plannedSize: 5000))
            return [difference.value] + ends(difference.once)
        case "student": return [StudentT.quantile(degreesOfFreedom: try number(0))]
        case "split":
            let split = SplitTest(try share(0), planned: try number(2))
            return [split.statistic, split.probability]
        case "ratio": return [SplitTest(try share(0), planned: try number(2)).probability]
        case "size":
            return [SampleSize.forOneLook(effect: try number(0), base: try number(1), heldOut: try number(2))]
        case "survival":
            let point = SurvivalCurve(observations()).point(at: Int(try number(1)))
            return [point.value] + ends(point.interval)
        case "incidence":
            let point = CumulativeIncidence(observations(), of: 1).point(at: Int(try number(1)))
            return [point.value] + ends(point.interval)
        case "always_shares":
            return ends(Difference(try share(0), try share(2), plannedSize: try number(4))?.always)
        case "always_means":
            return ends(Difference(try sample(0), try sample(1), plannedSize: try number(2))?.always)
        default: return []
        }
    }

    private static func ends(_ interval: Interval?) -> [Double] { interval.map { [$0.lower, $0.upper] } ?? [] }
}
