import OfferCore

/// A picture of the periods of subscriptions over time: a row of bars for each subscription, with marks for offers and
/// refunds. Show the same data as a table next to it.
struct PeriodChart {
    struct Bar {
        enum Kind { case regular, discounted, free }

        let start: Timestamp
        let end: Timestamp
        let kind: Kind
        let refundedAt: Timestamp?
        /// The text of the tooltip.
        let text: String
    }

    struct Row {
        let label: String
        /// The oldest first.
        let bars: [Bar]
        /// The times at which offers were redeemed.
        let offers: [Timestamp]
    }

    /// The maximum number of rows, and of bars in a row. The table has all of them.
    static let maximumRows = 12
    static let maximumBars = 150
    private static let width = 960.0
    private static let rowHeight = 46.0
    private static let (left, right, axisHeight) = (8.0, 952.0, 26.0)
    private static let maximumSpan = 1000 * 365 * CivilTime.millisecondsInDay

    private let rows: [Row]
    private let start: Timestamp
    private let end: Timestamp
    private let now: Timestamp
    private let clock: ConsoleClock

    /// - Returns: nil if there is nothing to draw.
    init?(_ rows: [Row], now: Timestamp, clock: ConsoleClock) {
        self.rows = rows.filter { !$0.bars.isEmpty }.prefix(Self.maximumRows).map { row in
            Row(label: row.label, bars: row.bars.suffix(Self.maximumBars), offers: row.offers)
        }
        let bars = self.rows.flatMap(\.bars)
        guard let first = bars.map(\.start).min(), let last = bars.map(\.end).max() else { return nil }
        let (span, overflows) = max(last, now).milliseconds.subtractingReportingOverflow(first.milliseconds)
        guard !overflows, 0 < span, span < Self.maximumSpan, abs(first.milliseconds) < Self.maximumSpan * 10 else {
            return nil
        }
        // Some space after the end, for the label of now.
        start = first
        end = Timestamp(milliseconds: max(last, now).milliseconds + span / 30)
        self.now = now
        self.clock = clock
    }

    private var height: Double { Double(rows.count) * Self.rowHeight + Self.axisHeight + 14 }

    private func x(_ time: Timestamp) -> Double {
        let share = Double(time.milliseconds - start.milliseconds) / Double(end.milliseconds - start.milliseconds)
        return Self.left + min(1, max(0, share)) * (Self.right - Self.left)
    }

    var html: HTML {
        let rows = rows.enumerated().html { row($0.element, top: 14 + Double($0.offset) * Self.rowHeight) }
        return """
            <figure class="plot"><figcaption>\(Self.legend)</figcaption>
            <div class="scroll" role="region" aria-labelledby="periods-title" tabindex="0">
            <svg viewBox="0 0 \(Self.width) \(height)" role="img" aria-labelledby="periods-title" \
            aria-describedby="periods-text"><title id="periods-title">Periods over time</title>
            <desc id="periods-text">From \(clock.date(start)): a row of bars for each subscription. The table below has \
            the same data.</desc>
            \(Hatching.definition("periods"))\(axis)\(rows)\(nowLine)</svg></div></figure>

            """
    }

    private var axis: HTML {
        let bottom = height - Self.axisHeight
        return
            "\(TimeTicks(from: start, to: end, clock: clock).ticks.html { tick in """
            <path class="grid" d="M\(x(tick.time)) 14V\(bottom)"/>\
            <text class="tick middle" x="\(min(Self.right - 24, max(Self.left + 24, x(tick.time))))" \
            y="\(bottom + 18)">\(tick.label)</text>

            """ })"
    }

    private var nowLine: HTML {
        """
        <path class="now" d="M\(x(now)) 12V\(height - Self.axisHeight)"/>\
        <text class="tick middle now-label" x="\(x(now))" y="9">now</text>
        """
    }

    private func row(_ row: Row, top: Double) -> HTML {
        let bars = row.bars.html { bar($0, y: top + 20) }
        let refunds = row.bars.compactMap(\.refundedAt).html { mark($0, y: top + 27, Self.refundMark) }
        let offers = row.offers.html { mark($0, y: top + 27, Self.offerMark) }
        return """
            \(label(row, y: top + 14))
            \(bars)\(offers)\(refunds)
            """
    }

    /// The label above the bars. In the right half, it ends with them.
    private func label(_ row: Row, y: Double) -> HTML {
        let (first, last) = (row.bars.map { x($0.start) }.min() ?? 0, row.bars.map { x($0.end) }.max() ?? 0)
        let isRight = first + last > Self.width
        let kind: StaticString = isRight ? "row-label end" : "row-label"
        return """
            <text class="\(kind)" x="\(isRight ? last : first)" y="\(y)">\(UserText.short(row.label, bytes: 80))</text>
            """
    }

    private func bar(_ bar: Bar, y: Double) -> HTML {
        let kind: StaticString =
            switch bar.kind {
            case .regular: "regular"
            case .discounted: "discounted"
            case .free: "free"
            }
        let width = max(1.5, x(bar.end) - x(bar.start) - 1.5)
        let shape: HTML = #"x="\#(x(bar.start))" y="\#(y)" width="\#(width)" height="14" rx="2""#
        let hatched: HTML? =
            bar.kind == .regular ? nil : #"<rect class="over" \#(shape) fill="url(#periods-hatch)"/>"#
        return """
            <g class="bar"><title>\(UserText.short(bar.text, bytes: 200))</title><rect class="\(kind)" \(shape)/>\
            \(hatched)</g>

            """
    }

    private func mark(_ time: Timestamp, y: Double, _ shape: HTML) -> HTML {
        #"<g transform="translate(\#(x(time)) \#(y))">\#(shape)</g>"#
    }

    private static let offerMark: HTML = #"<path class="offer-mark" d="M0 -8l6 8l-6 8l-6 -8z"/>"#
    private static let refundMark: HTML = #"<path class="refund-mark" d="M-5 -5L5 5M5 -5L-5 5"/>"#

    private static let legend: HTML = """
        <ul class="legend"><li>\(Hatching.sample(#"<rect class="regular" x="1" y="2" width="22" height="10" rx="2"/>"#))\
        standard price</li>
        <li>\(Hatching.sample(hatched("discounted")))discounted</li>
        <li>\(Hatching.sample(hatched("free")))free trial</li>
        <li>\(Hatching.sample(#"<g transform="translate(12 7) scale(.8)">\#(offerMark)</g>"#))offer redeemed</li>
        <li>\(Hatching.sample(#"<g transform="translate(12 7)">\#(refundMark)</g>"#))refund</li></ul>
        """

    private static func hatched(_ kind: StaticString) -> HTML {
        """
        <rect class="\(kind)" x="1" y="2" width="22" height="10" rx="2"/>\
        <path class="hatch" d="M3 12L11 2M9 12L17 2M15 12L22.5 3"/>
        """
    }
}
