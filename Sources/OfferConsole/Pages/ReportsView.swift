package import OfferReports

/// `GET /reports`: all offers with a rule, one row each.
package final class ReportsView: Sendable {
    package struct Row: Sendable {
        let offer: ReportView.Offer
        /// nil if none has been made.
        let report: OfferReport?
        let work: ReportView.Work

        package init(_ offer: ReportView.Offer, _ report: OfferReport?, _ work: ReportView.Work) {
            self.offer = offer
            self.report = report
            self.work = work
        }
    }

    /// A campaign and the counts of its links.
    package struct Campaign: Sendable {
        let name: String
        let app: String
        let made: Int64
        let heldOut: Int64
        let personalVisits: Int64
        let campaignVisits: Int64
        let claimed: Int64
        /// The report of the mailing; nil if the campaign has no personal links.
        let report: PageAddress?

        package init(
            name: String, app: String, made: Int64, heldOut: Int64, personalVisits: Int64, campaignVisits: Int64,
            claimed: Int64, report: PageAddress?
        ) {
            self.name = name
            self.app = app
            self.made = made
            self.heldOut = heldOut
            self.personalVisits = personalVisits
            self.campaignVisits = campaignVisits
            self.claimed = claimed
            self.report = report
        }
    }

    /// The order of the rows. The raw values are those of the field `sort`.
    package enum Order: String, CaseIterable, Sendable {
        /// Offers that need attention come first.
        case attention
        case offer, exposed, signed, redeemed, effect
    }

    let frame: PageFrame
    let rows: [Row]
    let campaigns: [Campaign]
    /// The apps, each with the page of its subscriptions.
    let subscriptions: [(app: String, address: PageAddress)]
    let order: Order

    package init(
        frame: PageFrame, rows: [Row], campaigns: [Campaign] = [],
        subscriptions: [(app: String, address: PageAddress)] = [], order: Order
    ) {
        self.frame = frame
        self.subscriptions = subscriptions
        self.campaigns = campaigns
        self.rows = rows.sorted(by: order)
        self.order = order
    }

    package var html: HTML {
        frame.page(
            "Reports", in: .reports, "<h1>Reports</h1>\n\(ofSubscriptions)\(Self.choice(nil))\(list)\(links)")
    }

    private var ofSubscriptions: HTML? {
        guard !subscriptions.isEmpty else { return nil }
        let links = subscriptions.html { #"<li><a href="\#($0.address)">\#(UserText.text($0.app))</a></li>"# }
        return Blocks.section(
            "subscriptions", "Subscriptions",
            """
            <p class="note">How many subscriptions an app has, how they begin and end, and how long they last.</p>
            <ul class="plain">\(links)</ul>
            """)
    }

    /// Links to the same reports by parts.
    /// - Parameter part: the part that is shown; nil for one row for each offer.
    static func choice(_ part: ReportPartsView.Part?) -> HTML {
        func link(_ name: String, _ address: PageAddress, _ isCurrent: Bool) -> HTML {
            isCurrent ? "<b>\(name)</b>" : #"<a href="\#(address)">\#(name)</a>"#
        }
        let parts = ReportPartsView.Part.allCases.html { other in
            " · \(link(other.rawValue, PageAddress("/reports").with("by", other.rawValue), other == part))"
        }
        return "<p>By \(link("offer", PageAddress("/reports"), part == nil))\(parts)</p>\n"
    }

    private var list: HTML {
        guard !rows.isEmpty else {
            return Blocks.empty(
                "No offer has a rule", "Reports are about offers with a rule, and compare customers with a holdout.")
        }
        return Blocks.section(
            "offers", "Did the offers earn anything?", count: rows.count,
            """
            <p class="note">Access is compared with the customers who were held out. Only an interval that holds at any \
            number of looks says <em>clear</em>. Of many offers without any effect, a few look different by chance.</p>
            <div class="scroll" role="region" aria-label="Effect of each offer" tabindex="0"><table class="figures">
            <thead><tr>\(head)</tr></thead>
            <tbody>
            \(rows.html(row))</tbody></table></div>
            """)
    }

    private var links: HTML? {
        guard !campaigns.isEmpty else { return nil }
        let rows = campaigns.html { campaign in
            let name: HTML =
                campaign.report.map { #"<a href="\#($0)">\#(UserText.text(campaign.name))</a>"# }
                ?? "\(UserText.text(campaign.name))"
            return """
                <tr><th scope="row">\(name)<p class="note">\(UserText.text(campaign.app))</p></th>
                <td>\(Self.number(Int(campaign.made)))</td><td>\(Self.number(Int(campaign.heldOut)))</td>
                <td>\(Self.number(Int(campaign.personalVisits)))</td><td>\(Self.number(Int(campaign.claimed)))</td>
                <td>\(Self.number(Int(campaign.campaignVisits)))</td></tr>

                """
        }
        let head: [StaticString] = [
            "Campaign", "Links made", "Customers left out", "Visits to their pages", "Opened in the app",
            "Visits to the campaign's page",
        ]
        return Blocks.section(
            "campaigns", "Links of campaigns", count: campaigns.count,
            """
            <p class="note">Programs that scan mail visit pages too, so visits are not people. The report of a campaign \
            compares everybody to whom a link was sent with those who were left out.</p>
            \(Blocks.table("Links of campaigns", head: head, rows: rows, class: "figures"))
            """)
    }

    private var head: [HTML] {
        [
            column("Offer", .offer, "ascending"), "<th scope=\"col\">Rule</th>", "<th scope=\"col\">Channel</th>",
            column("Exposed", .exposed, "descending"), column("Signed", .signed, "descending"),
            column("Redeemed", .redeemed, "descending"), column("Effect", .effect, "descending"),
            column("Verdict", .attention, "other"),
        ]
    }

    /// A heading that sorts the rows.
    private func column(_ title: StaticString, _ order: Order, _ direction: StaticString) -> HTML {
        let isCurrent = order == self.order
        let mark: HTML? = isCurrent ? #" aria-sort="\#(direction)""# : nil
        let address = PageAddress("/reports").with("sort", order.rawValue)
        return #"<th scope="col"\#(mark)><a href="\#(address)">\#(title)</a>\#(isCurrent ? " ↓" as HTML : nil)</th>"#
    }

    private func row(_ row: Row) -> HTML {
        let offer = row.offer
        let names: HTML = """
            <th scope="row"><a href="\(offer.address)">\(UserText.text(offer.offerID))</a>
            <p class="note">\(UserText.text(offer.productID))<br>\(UserText.text(offer.app))\
            \(offer.sample.map { "<br>sample \(UserText.text($0))" as HTML })</p></th>
            <td>\(offer.rule.map(UserText.text) ?? "inline rule")</td>
            """
        guard let report = row.report else {
            return "<tr>\(names)<td>–</td><td>–</td><td>–</td><td>–</td><td>–</td><td>\(row.badge)</td></tr>\n"
        }
        let channels = report.groups.filter { $0.kind == .channel }.map(\.name).joined(separator: ", ")
        return """
            <tr>\(names)<td>\(channels.isEmpty ? "–" : channels)</td>
            <td>\(Self.number(report.funnel.exposed.total))</td><td>\(Self.number(report.funnel.signed))</td>
            <td>\(Self.number(report.funnel.redeemed))</td><td>\(Self.effect(report))</td>
            <td>\(row.badge)<p class="note">as of \(frame.clock.html(report.question.asOf))\(row.newer)</p></td></tr>

            """
    }

    private static func number(_ number: Int) -> HTML {
        #"<span class="number">\#(Words.grouped(Int64(number)))</span>"#
    }

    private static func effect(_ report: OfferReport) -> HTML {
        guard let difference = report.effect.difference else { return "–" }
        let interval = difference.always.map { always -> HTML in
            "<span class=\"note\">\(FixedText.points(always.lower)) to \(FixedText.points(always.upper))</span>"
        }
        return "<span class=\"number\">\(FixedText.points(difference.value)) points</span>\(interval)"
    }
}

extension ReportsView.Row {
    /// The offers that need a person first have the lowest number.
    var urgency: Int {
        if case .failed = work { return 1 }
        guard let report else { return 3 }
        return switch report.effect.verdict {
        case .broken: 0
        case .clear(let isGain): isGain ? 7 : 2
        case .noHoldout: report.funnel.exposed.total > 0 ? 4 : 6
        case .notClear, .tooEarly: 5
        case .small: 6
        }
    }

    /// What happens to a newer report.
    fileprivate var newer: HTML? {
        switch work {
        case .waiting: ", a newer one is being made"
        case .refused: ", too many are waiting for a newer one"
        case .none, .failed: nil
        }
    }

    fileprivate var badge: HTML {
        if case .failed = work { return Blocks.badge(.bad, "\(Icon.cross)failed") }
        guard let report else {
            return Blocks.badge(.neutral, work == .refused ? "too many are waiting" : "being made")
        }
        return switch report.effect.verdict {
        case .broken: Blocks.badge(.bad, "\(Icon.cross)split broken")
        case .clear(isGain: true): Blocks.badge(.good, "\(Icon.tick)clear")
        case .clear(isGain: false): Blocks.badge(.warning, "clear loss")
        case .small: Blocks.badge(.neutral, "clear: too small")
        case .noHoldout: Blocks.badge(.neutral, report.funnel.exposed.total > 0 ? "nobody held out" : "no exposures")
        case .tooEarly: Blocks.badge(.neutral, "too early")
        case .notClear: Blocks.badge(.accent, "not clear yet")
        }
    }
}

extension [ReportsView.Row] {
    /// Rows without a number come last. Equal rows are in the order of their names.
    fileprivate func sorted(by order: ReportsView.Order) -> [ReportsView.Row] {
        func key(_ row: ReportsView.Row) -> Double {
            switch order {
            case .attention: Double(row.urgency)
            case .offer: 0
            case .exposed: -Double(row.report?.funnel.exposed.total ?? -1)
            case .signed: -Double(row.report?.funnel.signed ?? -1)
            case .redeemed: -Double(row.report?.funnel.redeemed ?? -1)
            case .effect: -(row.report?.effect.difference?.value ?? -2)
            }
        }
        func names(_ row: ReportsView.Row) -> [String] {
            [row.offer.offerID, row.offer.productID, row.offer.app, row.offer.sample ?? ""]
        }
        return map { (key: key($0), names: names($0), row: $0) }.sorted { one, other in
            one.key == other.key ? one.names.lexicographicallyPrecedes(other.names) : one.key < other.key
        }.map(\.row)
    }
}
