/// A plot of series over the same places on the horizontal axis, such as days, as SVG.
///
/// Series differ in shape as well as in colour. Colours come from the style sheet's classes. Show the same numbers as a
/// table next to it.
package struct Plot: Sendable {
    package enum Kind: Sendable {
        /// A line with a mark at each value.
        case line
        case bars
        /// A filled range around a line, from `values` to `upper`.
        case band(upper: [Double?])
    }

    package struct Series: Sendable {
        let name: String
        let kind: Kind
        /// One for each place; nil leaves a gap.
        let values: [Double?]

        package init(_ name: String, _ kind: Kind, _ values: [Double?]) {
            self.name = name
            self.kind = kind
            self.values = values
        }
    }

    /// Unique in the page: lowercase letters, digits and hyphens.
    let id: StaticString
    let title: String
    let description: String
    /// The labels of the places, such as dates. Only as many as fit are shown.
    let labels: [String]
    /// At most four besides bands: there are four styles. A band has the style of the next line.
    let series: [Series]
    /// The places at the end whose data is incomplete. They are hatched.
    let incomplete: Int
    /// True if all values are counts.
    let isWhole: Bool

    package init(
        id: StaticString, title: String, description: String, labels: [String], series: [Series], incomplete: Int = 0,
        isWhole: Bool = true
    ) {
        self.id = id
        self.title = title
        self.description = description
        self.labels = labels
        self.series = series
        self.incomplete = min(max(0, incomplete), labels.count)
        self.isWhole = isWhole
    }

    /// The plot with its legend, in a region that scrolls on narrow screens.
    package var html: HTML {
        let canvas = PlotCanvas(self)
        let lines = zip(series, styles).html { canvas.marks(of: $0, style: $1) }
        return """
            <figure class="plot"><figcaption>\(legend)</figcaption>
            <div class="scroll" role="region" aria-labelledby="\(id)-title" tabindex="0">
            <svg viewBox="0 0 \(PlotCanvas.width) \(PlotCanvas.height)" role="img" aria-labelledby="\(id)-title" \
            aria-describedby="\(id)-text">
            <title id="\(id)-title">\(title)</title><desc id="\(id)-text">\(description)</desc>
            \(Hatching.definition(id))\(canvas.axes)\(canvas.incompleteArea(id))\(lines)</svg></div></figure>

            """
    }

    private var styles: [PlotStyle] {
        var place = 0
        return series.map { series in
            defer { if case .band = series.kind {} else { place += 1 } }
            return PlotStyle(place)
        }
    }

    private var legend: HTML {
        let items = zip(series, styles).html { series, style in
            return #"<li>\#(Hatching.swatch(series.kind, style))\#(series.name)</li>"#
        }
        let hatched: HTML? = incomplete > 0 ? "<li>\(Hatching.incompleteSwatch)not complete yet</li>" : nil
        return #"<ul class="legend">\#(items)\#(hatched)</ul>"#
    }
}

/// The style of a series by its place: the class of its colour, and the shape of its marks.
struct PlotStyle {
    let place: Int

    init(_ place: Int) { self.place = place % 4 }

    var name: StaticString {
        switch place {
        case 0: "s1"
        case 1: "s2"
        case 2: "s3"
        default: "s4"
        }
    }

    /// A mark around a point: a disc, a square, a triangle or a diamond.
    func mark(x: Double, y: Double) -> HTML {
        switch place {
        case 0: #"<circle cx="\#(x)" cy="\#(y)" r="3"/>"#
        case 1: #"<path d="M\#(x - 3) \#(y - 3)h6v6h-6z"/>"#
        case 2: #"<path d="M\#(x) \#(y - 4)l4 7h-8z"/>"#
        default: #"<path d="M\#(x) \#(y - 4)l4 4l-4 4l-4 -4z"/>"#
        }
    }
}
