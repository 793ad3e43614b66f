package import OfferCore

/// `GET /rules/trial`: the progress of a trial of rules, or its result.
///
/// Action: `POST /rules/cancel` with `trial`. While a trial waits or runs, the page comes with a `Refresh` header, unless
/// `hold` is set.
package final class RulesTrialView: Sendable {
    package enum State: Sendable {
        /// Other trials run first.
        case waiting
        /// The share of the subscriptions that were read, from 0 to 1.
        case running(Double)
        case finished(Result)
        case cancelled
        /// The log has the reason.
        case failed
    }

    package final class Trial: Sendable {
        let address: PageAddress
        /// The value of the field `trial`.
        let id: String
        let person: String
        let startedAt: Timestamp
        /// The first digits of the SHA-256 hash of the file.
        let digest: String
        package let state: State

        package init(
            address: PageAddress, id: String, person: String, startedAt: Timestamp, digest: String, state: State
        ) {
            self.address = address
            self.id = id
            self.person = person
            self.startedAt = startedAt
            self.digest = digest
            self.state = state
        }
    }

    /// The comparison of the rules in force with the new ones.
    package final class Result: Sendable {
        let customers: Int64
        let offers: [Offer]

        package init(customers: Int64, offers: [Offer]) {
            self.customers = customers
            self.offers = offers
        }
    }

    package final class Offer: Sendable {
        let app: String
        let environment: String
        let productID: String
        let offerID: String
        let inForce: Side
        let new: Side
        /// The customers who would get the offer, but do not get it now.
        let gained: Int64
        let lost: Int64
        let reasons: [Reason]

        /// The sort key: the names of the app, product and offer.
        package var names: [String] { [app, environment, productID, offerID] }

        package init(
            app: String, environment: String, productID: String, offerID: String, inForce: Side, new: Side,
            gained: Int64, lost: Int64, reasons: [Reason]
        ) {
            self.app = app
            self.environment = environment
            self.productID = productID
            self.offerID = offerID
            self.inForce = inForce
            self.new = new
            self.gained = gained
            self.lost = lost
            self.reasons = reasons
        }
    }

    package final class Side: Sendable {
        /// nil for an inline rule.
        let rule: String?
        /// nil if the configuration lacks the offer.
        let eligible: Int64?

        package init(rule: String?, eligible: Int64?) {
            self.rule = rule
            self.eligible = eligible
        }
    }

    /// The number of customers whom a reason refuses. A customer counts for each reason.
    package final class Reason: Sendable {
        let code: String
        let inForce: Int64
        let new: Int64

        package init(code: String, inForce: Int64, new: Int64) {
            self.code = code
            self.inForce = inForce
            self.new = new
        }
    }

    let frame: PageFrame
    let now: Timestamp
    let trial: Trial
    /// True if the page does not refresh itself.
    let isHeld: Bool
    let csv: PageAddress

    package init(frame: PageFrame, now: Timestamp, trial: Trial, isHeld: Bool, csv: PageAddress) {
        self.frame = frame
        self.now = now
        self.trial = trial
        self.isHeld = isHeld
        self.csv = csv
    }

    package var html: HTML {
        frame.page(
            "Trial of rules", in: .rules,
            """
            <p class="back"><a href="/rules">← Rules</a></p>
            <section class="card" aria-labelledby="trial"><h1 id="trial">Trial of rules \(trial.state.badge)</h1>
            <dl class="pairs"><dt>Started</dt><dd>\(frame.clock.html(trial.startedAt, now: now))</dd>
            <dt>Person</dt><dd>\(UserText.text(trial.person))</dd>
            <dt>File (SHA-256)</dt><dd>\(UserText.code(trial.digest))</dd></dl>
            \(content)</section>
            \(tables)
            """)
    }

    private var content: HTML {
        switch trial.state {
        case .waiting: "<p>Another trial runs first.</p>\(controls)"
        case .running(let share):
            """
            <p id="progress-label">\(Int(share * 100)) % of the subscriptions are read.</p>
            <progress max="100" value="\(Int(share * 100))" aria-labelledby="progress-label"></progress>
            \(controls)
            """
        case .finished(let result): "<p>\(Self.sentence(of: result))</p>"
        case .cancelled: "<p>The trial was cancelled. It has no result.</p>"
        case .failed: "<p>The database did not answer. An operator finds the reason in the log.</p>"
        }
    }

    private var controls: HTML {
        let (other, words): (PageAddress, StaticString) =
            isHeld ? (trial.address, "Refresh by itself") : (trial.address.with("hold", "1"), "Stop refreshing")
        return """
            <p class="note">You can close this page. The trial goes on, and the page <a href="/rules">Rules</a> lists it.</p>
            <form class="buttons" method="post" action="/rules/cancel">
            <input type="hidden" name="trial" value="\(trial.id)"><button>Cancel the trial</button>
            <a class="button" href="\(other)">\(words)</a></form>
            """
    }

    private static func sentence(of result: Result) -> HTML {
        let changed = result.offers.count { $0.gained + $0.lost > 0 }
        let customers = Words.count(Int(result.customers), "customer")
        return changed == 0
            ? "No decision about \(customers) changes."
            : "\(Words.count(changed, "offer")) would reach other people, among \(customers) with purchases."
    }

    private var tables: HTML? {
        guard case .finished(let result) = trial.state else { return nil }
        guard !result.offers.isEmpty else {
            return Blocks.section(
                "result", "Result",
                Blocks.empty(
                    "Nothing was decided", "No customer is stored, or neither configuration has an offer with a rule."))
        }
        let head: [StaticString] = [
            "Offer", "Rule in force", "New rule", "Eligible now", "Eligible then", "Gain it", "Lose it",
        ]
        let reasons = result.offers.flatMap { offer in offer.reasons.map { (offer, $0) } }
        let rows = reasons.html { offer, reason in
            Blocks.row([
                UserText.text(offer.offerID), UserText.code(reason.code), Self.number(reason.inForce),
                Self.number(reason.new),
            ])
        }
        let details: HTML? =
            reasons.isEmpty
            ? nil
            : """
            <details><summary>Why the others do not get it</summary>
            \(Blocks.table("Reasons", head: ["Offer", "Reason", "Customers now", "Customers then"], rows: rows))</details>
            """
        return Blocks.section(
            "result", "Result", count: result.offers.count,
            """
            \(Blocks.table("Result", head: head, rows: result.offers.html(row), class: "figures"))\(details)
            <p class="note">Limits are not counted. A customer counts once for each reason. Customers without purchases \
            are left out.</p>
            <p class="download"><a href="\(csv)">Download as CSV</a></p>
            """)
    }

    private func row(_ offer: Offer) -> HTML {
        """
        <tr><th scope="row">\(UserText.text(offer.offerID))
        <p class="note">\(UserText.text(offer.productID))<br>\(UserText.text(offer.app)), \(offer.environment)</p></th>
        <td>\(offer.inForce.name)</td><td>\(offer.new.name)</td>
        <td>\(offer.inForce.eligible.map(Self.number) ?? "–")</td><td>\(offer.new.eligible.map(Self.number) ?? "–")</td>
        <td>\(Self.change(offer.gained, "+"))</td><td>\(Self.change(offer.lost, "−"))</td></tr>

        """
    }

    private static func change(_ number: Int64, _ sign: StaticString) -> HTML {
        number == 0 ? Self.number(0) : #"<b class="number">\#(sign)\#(Words.grouped(number))</b>"#
    }

    private static func number(_ number: Int64) -> HTML { #"<span class="number">\#(Words.grouped(number))</span>"# }
}

extension RulesTrialView.Side {
    fileprivate var name: HTML {
        guard eligible != nil else { return "no such offer" }
        return rule.map(UserText.text) ?? "inline rule"
    }
}

extension RulesTrialView.State {
    var badge: HTML {
        switch self {
        case .waiting: Blocks.badge(.neutral, "waiting")
        case .running: Blocks.badge(.accent, "running")
        case .finished: Blocks.badge(.good, "\(Icon.tick)finished")
        case .cancelled: Blocks.badge(.neutral, "cancelled")
        case .failed: Blocks.badge(.bad, "\(Icon.cross)failed")
        }
    }

    /// The progress or the result in a few words.
    var summary: HTML {
        switch self {
        case .running(let share): "\(Int(share * 100)) %"
        case .finished(let result):
            "\(Words.count(result.offers.count { $0.gained + $0.lost > 0 }, "offer")) of \(result.offers.count) changed"
        default: "–"
        }
    }
}
