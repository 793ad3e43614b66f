/// The drawing area of a plot, and its scales.
struct PlotCanvas {
    static let width = 960
    static let height = 220
    private static let (left, right, top, bottom) = (48.0, 952.0, 12.0, 190.0)
    /// The width of a label at the horizontal axis.
    private static let labelWidth = 84.0

    private let plot: Plot
    private let ticks: NiceTicks

    init(_ plot: Plot) {
        self.plot = plot
        var values = plot.series.flatMap(\.values).compactMap(\.self)
        for case .band(let upper) in plot.series.map(\.kind) { values += upper.compactMap(\.self) }
        let finite = values.filter(\.isFinite)
        ticks = NiceTicks(from: min(0, finite.min() ?? 0), to: finite.max() ?? 1, isWhole: plot.isWhole)
    }

    private var step: Double { (Self.right - Self.left) / Double(max(1, plot.labels.count)) }

    private func x(_ place: Int) -> Double { Self.left + (Double(place) + 0.5) * step }

    private func y(_ value: Double) -> Double {
        let share = (value - ticks.lowest) / (ticks.highest - ticks.lowest)
        return Self.bottom - min(1, max(0, share)) * (Self.bottom - Self.top)
    }

    var axes: HTML {
        let horizontal = ticks.values.html { value in
            """
            <path class="grid" d="M\(Self.left) \(y(value))H\(Self.right)"/>\
            <text class="tick end" x="\(Self.left - 6)" y="\(y(value) + 4)">\(ticks.text(value))</text>

            """
        }
        // Counted from the end, so that the latest place has a label.
        let every = max(1, Int((Self.labelWidth / step).rounded(.up)))
        let count = plot.labels.count
        let places = stride(from: count - 1, through: 0, by: -every).reversed()
        let vertical = places.html { place in
            // A label at an edge would be cut off if it were centred.
            let isLast = place == count - 1 && count > 1
            let kind: StaticString = isLast ? "tick end" : "tick middle"
            let labelX = isLast ? min(Self.right, x(place) + 30) : max(Self.left + 12, x(place))
            return """
                <path class="axis" d="M\(x(place)) \(Self.bottom)v4"/>\
                <text class="\(kind)" x="\(labelX)" y="\(Self.bottom + 18)">\(plot.labels[place])</text>

                """
        }
        return """
            \(horizontal)\(vertical)<path class="axis" d="M\(Self.left) \(y(0))H\(Self.right)"/>

            """
    }

    /// The hatched area of the places whose data is incomplete.
    func incompleteArea(_ id: StaticString) -> HTML? {
        guard plot.incomplete > 0 else { return nil }
        let start = Self.left + Double(plot.labels.count - plot.incomplete) * step
        return """
            <rect x="\(start)" y="\(Self.top)" width="\(Self.right - start)" height="\(Self.bottom - Self.top)" \
            fill="url(#\(id)-hatch)"/>

            """
    }

    func marks(of series: Plot.Series, style: PlotStyle) -> HTML {
        let points = series.values.prefix(plot.labels.count).enumerated().compactMap { place, value in
            value.flatMap { $0.isFinite ? (place: place, value: $0) : nil }
        }
        return switch series.kind {
        case .line: line(points, style)
        case .bars: bars(points, style)
        case .band(let upper): band(points, upper: upper, style)
        }
    }

    private func line(_ points: [(place: Int, value: Double)], _ style: PlotStyle) -> HTML {
        var path = HTML.empty
        for (place, point) in points.enumerated() {
            let continues = place > 0 && points[place - 1].place == point.place - 1
            let command: StaticString = continues ? "L" : "M"
            path += "\(command)\(x(point.place)) \(y(point.value))"
        }
        let marks = points.html { style.mark(x: x($0.place), y: y($0.value)) }
        return #"<g class="series \#(style.name)"><path class="line" d="\#(path)"/>\#(marks)</g>"#
    }

    private func bars(_ points: [(place: Int, value: Double)], _ style: PlotStyle) -> HTML {
        let width = min(28, step * 0.64)
        let bars = points.filter { $0.value != 0 }.html { point in
            let (top, bottom) = (min(y(point.value), y(0)), max(y(point.value), y(0)))
            return """
                <rect x="\(x(point.place) - width / 2)" y="\(top)" width="\(width)" height="\(bottom - top)"/>
                """
        }
        return #"<g class="series bars \#(style.name)">\#(bars)</g>"#
    }

    private func band(_ points: [(place: Int, value: Double)], upper: [Double?], _ style: PlotStyle) -> HTML {
        let pairs = points.compactMap { point in
            let high = point.place < upper.count ? upper[point.place] : nil
            return high.flatMap { $0.isFinite ? (x: x(point.place), low: y(point.value), high: y($0)) : nil }
        }
        let edges = pairs.map { ($0.x, $0.high) } + pairs.reversed().map { ($0.x, $0.low) }
        let path = edges.enumerated().html { place, edge in
            let command: StaticString = place == 0 ? "M" : "L"
            return "\(command)\(edge.0) \(edge.1)"
        }
        return #"<path class="band \#(style.name)" d="\#(path)"/>"#
    }
}
