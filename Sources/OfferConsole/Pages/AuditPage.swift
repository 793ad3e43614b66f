package import OfferCore

/// `GET /audit`: who looked at whom, and who did what. Newest first.
///
/// Fields of the filter: `person` and `customer` (only for an auditor), `act`, `from` and `until` (`2026-11-27`).
package final class AuditView: Sendable {
    package final class Line: Sendable {
        /// The number of the line in the audit trail.
        let number: Int64
        let at: Timestamp
        let person: String
        let act: String
        let subject: String
        /// The offer, the reason and the identifier of a grant; nil for most other acts.
        let details: String?
        /// The page of the subject; nil if there is none, or the person may not open it.
        let address: PageAddress?
        /// The code of the problem for which the act was refused; nil if it took effect.
        let refusal: String?

        package init(
            number: Int64, at: Timestamp, person: String, act: String, subject: String, details: String? = nil,
            address: PageAddress? = nil, refusal: String? = nil
        ) {
            self.number = number
            self.at = at
            self.person = person
            self.act = act
            self.subject = subject
            self.details = details
            self.address = address
            self.refusal = refusal
        }
    }

    package final class Filter: Sendable {
        let person: String
        /// An identifier of the customer.
        let customer: String
        let act: String
        let from: String
        let until: String

        package init(
            person: String = "", customer: String = "", act: String = "", from: String = "", until: String = ""
        ) {
            self.person = person
            self.customer = customer
            self.act = act
            self.from = from
            self.until = until
        }

        var isEmpty: Bool { [person, customer, act, from, until].allSatisfy(\.isEmpty) }
    }

    let frame: PageFrame
    let lines: [Line]
    let filter: Filter
    /// The acts to choose from.
    let acts: [String]
    /// False if only the person's own lines are shown.
    let showsEveryone: Bool
    let newer: PageAddress?
    let older: PageAddress?
    /// The part of the trail that was searched.
    let reach: Reach

    package enum Reach: Sendable {
        /// The file cannot be searched, as with a pipe, or there is no trail.
        case nowhere
        case wholeFile
        case since(Timestamp)
    }

    package init(
        frame: PageFrame, lines: [Line], filter: Filter = Filter(), acts: [String], showsEveryone: Bool,
        newer: PageAddress? = nil, older: PageAddress? = nil, reach: Reach = .wholeFile
    ) {
        self.reach = reach
        self.frame = frame
        self.lines = lines
        self.filter = filter
        self.acts = acts
        self.showsEveryone = showsEveryone
        self.newer = newer
        self.older = older
    }

    package var html: HTML {
        let scope: HTML =
            showsEveryone
            ? "Look-ups and acts of everybody who uses the console, and grants with the API."
            : "Your own look-ups and acts. An auditor sees those of everybody."
        return frame.page(
            "Audit", in: .audit,
            """
            <h1>Audit</h1><p class="lead">\(scope)</p>\(reachNote)
            \(filterForm)<section class="card" aria-label="Lines">\(table)\(Blocks.pages(newer: newer, older: older))</section>
            """)
    }

    private var reachNote: HTML? {
        switch reach {
        case .nowhere:
            Blocks.notice(
                .warning, "The audit trail cannot be searched here.",
                "<p>It is not a regular file. Search it where its lines arrive.</p>")
        case .wholeFile: nil
        case .since(let time):
            #"<p class="note">This searches the newest 32 MiB of the trail, back to \#(frame.clock.html(time)).</p>"#
        }
    }

    private var filterForm: HTML {
        let person = Form.text("person", label: "Person", value: filter.person, attributes: #" maxlength="100""#)
        let customer = Form.text(
            "customer", label: "Customer", value: filter.customer, attributes: #" maxlength="512""#)
        let acts =
            [Form.option("", "All", isSelected: filter.act.isEmpty)]
            + acts.html { Form.option($0, $0, isSelected: $0 == filter.act) }
        let clear: HTML? = filter.isEmpty ? nil : #"<a class="button" href="/audit">Clear</a>"#
        return """
            <form class="card filter" method="get" action="/audit" aria-label="Filter">
            \(showsEveryone ? "\(person)\(customer)" : nil)\(Form.select("act", label: "Act", acts))\
            \(Form.text("from", label: "From", value: filter.from, attributes: #" type="date""#))\
            \(Form.text("until", label: "Until", value: filter.until, attributes: #" type="date""#))\
            <button>Filter</button>\(clear)</form>

            """
    }

    private var table: HTML {
        guard !lines.isEmpty else {
            return filter.isEmpty
                ? Blocks.empty("No lines yet", "The first look-up of a customer writes the first line.")
                : Blocks.empty("No line matches the filter", "Choose a longer period, or clear the filter.")
        }
        return Blocks.table(
            "Lines of the audit trail", head: ["Line", "Time", "Person", "Act", "Subject", "Outcome"],
            rows: lines.html(row), class: "trail")
    }

    private func row(_ line: Line) -> HTML {
        let subject = UserText.text(line.subject)
        let details = line.details.map { #"<span class="note">\#(UserText.text($0))</span>"# as HTML }
        let outcome = line.refusal.map { Blocks.badge(.bad, "refused: \(UserText.text($0))") }
        return Blocks.row([
            #"<span class="number">\#(line.number)</span>"#,
            #"<time datetime="\#(ConsoleClock.machineText(line.at))">\#(frame.clock.second(line.at))</time>"#,
            UserText.text(line.person), UserText.text(line.act),
            "\(line.address.map { #"<a href="\#($0)">\#(subject)</a>"# } ?? subject)\(details)", outcome ?? "done",
        ])
    }
}
