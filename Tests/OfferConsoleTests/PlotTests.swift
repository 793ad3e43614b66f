import Testing

@testable import OfferConsole

@Suite("Plots")
struct PlotTests {
    @Test(
        "ticks are round, and enclose the values",
        arguments: [
            (0, 10, [0, 5, 10]), (0, 1, [0, 0.5, 1]), (0, 97, [0, 50, 100]), (-3, 4, [-4, -2, 0, 2, 4]),
            (0, 0, [0, 0.5, 1]), (2, 1, [2, 2.5, 3]), (0, 0.03, [0, 0.01, 0.02, 0.03]),
        ] as [(Double, Double, [Double])])
    func ticks(lowest: Double, highest: Double, values: [Double]) {
        let ticks = NiceTicks(from: lowest, to: highest)
        #expect(ticks.values.count == values.count)
        for (value, expected) in zip(ticks.values, values) { #expect(abs(value - expected) < 1e-9) }
    }

    @Test("counts have whole steps", arguments: [0, 1, 2, 3, 7, 1_000_000])
    func wholeTicks(highest: Double) {
        let ticks = NiceTicks(from: 0, to: highest, isWhole: true)
        #expect(ticks.values.allSatisfy { $0 == $0.rounded() })
        #expect(ticks.highest >= max(1, highest))
    }

    @Test("any range has ascending ticks that enclose it", arguments: 0..<20 as Range<UInt64>)
    func anyRange(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let odd: [Double] = [
            .nan, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e300, 0, -1e-300,
        ]
        for _ in 0..<200 {
            let exponents = (Double.random(in: -1...1, using: &random), Int.random(in: 0..<15, using: &random))
            let scale = (0..<exponents.1).reduce(1.0) { value, _ in value * 10 }
            let lowest = Bool.random(using: &random) ? exponents.0 * scale : odd.randomElement(using: &random) ?? 0
            let highest =
                Bool.random(using: &random) ? lowest + abs(exponents.0) : odd.randomElement(using: &random) ?? 0
            let ticks = NiceTicks(from: lowest, to: highest, count: Int.random(in: -1...9, using: &random))
            #expect(ticks.values.count >= 2 && ticks.values.count <= 102)
            #expect(ticks.values.allSatisfy { $0.isFinite })
            #expect(zip(ticks.values, ticks.values.dropFirst()).allSatisfy { $0 < $1 })
            if lowest.isFinite, highest.isFinite, abs(lowest) < 1e14, highest < 1e14, highest > lowest {
                #expect(ticks.lowest <= lowest + ticks.step * 1e-6)
                #expect(ticks.highest >= highest - ticks.step * 1e-6)
            }
        }
    }

    @Test(
        "numbers have the decimals that the step needs",
        arguments: [(1_204_000, 1.0, "1,204,000"), (0.25, 0.05, "0.25"), (-2.5, 0.5, "−2.5"), (0.5, 0.5, "0.5")]
            as [(Double, Double, String)])
    func texts(value: Double, step: Double, text: String) {
        #expect(NiceTicks(from: 0, to: step * 4).text(value) == text)
    }

    @Test("coordinates are finite", arguments: [(1.25, "1.3"), (-0.04, "0"), (.nan, "0"), (1e300, "0"), (-7, "-7")])
    func coordinates(value: Double, text: String) { #expect(DecimalText.coordinate(value) == text) }

    @Test("texts are escaped, and the plot names itself")
    func escaping() {
        let text = "<script>\"'&\u{202E}"
        let plot = Plot(
            id: "p", title: text, description: text, labels: [text, text],
            series: [
                Plot.Series(text, .bars, [1, nil]), Plot.Series(text, .line, [.nan, 2]),
                Plot.Series(text, .band(upper: [3]), [1, 1]),
            ], incomplete: 1)
        let html = plot.html.text
        #expect(!html.contains("<script") && !html.contains("\u{202E}"))
        #expect(html.contains(#"<title id="p-title">&lt;script&gt;"#))
        #expect(html.contains(#"aria-labelledby="p-title""#) && html.contains("url(#p-hatch)"))
        #expect(!html.contains("style=") && !html.contains("NaN"))
    }

    @Test("an empty plot is drawn")
    func empty() {
        let plot = Plot(id: "p", title: "", description: "", labels: [], series: [], incomplete: 5)
        #expect(plot.html.text.contains("<svg"))
    }
}
