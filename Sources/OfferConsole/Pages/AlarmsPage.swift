package import OfferCore

/// `GET /alarms`: redemptions that no signature explains.
///
/// Action: `POST /alarms/acknowledge` with `number` and `note`, 1 to 500 characters.
package final class AlarmsView: Sendable {
    package final class Alarm: Sendable {
        /// The number of the redemption, as in `offer-signer alarms show`.
        let number: Int64
        let at: Timestamp
        let app: String
        let environment: String
        let productID: String
        let offerID: String
        /// nil until the discounted period begins.
        let transactionID: String?
        /// nil if the customer was erased, or the person may not open customers.
        let customer: PageAddress?

        package init(
            number: Int64, at: Timestamp, app: String, environment: String, productID: String, offerID: String,
            transactionID: String?, customer: PageAddress?
        ) {
            self.number = number
            self.at = at
            self.app = app
            self.environment = environment
            self.productID = productID
            self.offerID = offerID
            self.transactionID = transactionID
            self.customer = customer
        }
    }

    package final class Acknowledgement: Sendable {
        let alarm: Alarm
        let at: Timestamp
        let person: String
        let note: String

        package init(alarm: Alarm, at: Timestamp, person: String, note: String) {
            self.alarm = alarm
            self.at = at
            self.person = person
            self.note = note
        }
    }

    /// A form that was refused.
    package final class Refusal: Sendable {
        let number: Int64
        let note: String
        let problem: String

        package init(number: Int64, note: String, problem: String) {
            self.number = number
            self.note = note
            self.problem = problem
        }
    }

    let frame: PageFrame
    let now: Timestamp
    /// The oldest first.
    let open: [Alarm]
    /// The latest first.
    let acknowledged: [Acknowledgement]
    let refusal: Refusal?

    package init(
        frame: PageFrame, now: Timestamp, open: [Alarm], acknowledged: [Acknowledgement], refusal: Refusal? = nil
    ) {
        self.frame = frame
        self.now = now
        self.open = open
        self.acknowledged = acknowledged
        self.refusal = refusal
    }

    package var html: HTML {
        let list = open.isEmpty ? Self.none : "\(Self.advice)\(open.html(card))"
        return frame.page("Alarms", in: .alarms, "<h1>Alarms</h1>\n\(list)\(history)")
    }

    private static let none: HTML = Blocks.notice(
        .success, "Every redemption has a signature of this service.",
        "<p>An alarm appears here if the App Store reports a redemption that this service did not sign.</p>")

    private static let advice: HTML = Blocks.notice(
        .warning, "Offers were redeemed without a signature of this service. Somebody else may hold a key.",
        """
        <p>Look for a harmless cause first: another server of yours signs the offer, the offer had no rule until \
        recently, or the database was restored. If there is none, or new alarms keep coming in Production, replace and \
        revoke the keys. An acknowledgement changes no limits.</p>
        """)

    private func card(_ alarm: Alarm) -> HTML {
        let refused = refusal.flatMap { $0.number == alarm.number ? $0 : nil }
        let problem = refused.map {
            #"<p class="field-problem" id="problem-\#(alarm.number)">\#($0.problem)</p>"# as HTML
        }
        let described: HTML? = refused.map { _ in
            #" aria-invalid="true" aria-describedby="problem-\#(alarm.number)""#
        }
        let customer = alarm.customer.map { #"<p><a class="button" href="\#($0)">Open the customer</a></p>"# as HTML }
        return """
            <section class="card alarm" aria-labelledby="alarm-\(alarm.number)">
            <h2 id="alarm-\(alarm.number)">Redemption \(alarm.number)</h2>
            <div class="columns"><div>\(facts(alarm))\(customer)</div>
            <form method="post" action="/alarms/acknowledge">
            <input type="hidden" name="number" value="\(alarm.number)">
            <div class="field"><label for="note-\(alarm.number)">Cause</label>\(problem)
            <textarea id="note-\(alarm.number)" name="note" rows="3" maxlength="500" required\(described)>
            \(refused?.note ?? "")</textarea></div>
            <button>Acknowledge redemption \(alarm.number)</button></form></div></section>

            """
    }

    private func facts(_ alarm: Alarm) -> HTML {
        """
        <dl class="pairs"><dt>Offer</dt><dd>\(UserText.code(alarm.offerID))</dd>
        <dt>Product</dt><dd>\(UserText.code(alarm.productID))</dd>
        <dt>App</dt><dd>\(UserText.text(alarm.app)), \(alarm.environment)</dd>
        <dt>Redeemed</dt><dd>\(frame.clock.html(alarm.at, now: now))</dd>
        <dt>Transaction</dt><dd>\(alarm.transactionID.map(UserText.code) ?? "not begun")</dd></dl>
        """
    }

    private var history: HTML? {
        guard !acknowledged.isEmpty else { return nil }
        let rows = acknowledged.html { line in
            Blocks.row([
                #"<span class="number">\#(line.alarm.number)</span>"#, UserText.code(line.alarm.offerID),
                frame.clock.html(line.alarm.at), UserText.text(line.note), UserText.text(line.person),
                frame.clock.html(line.at),
            ])
        }
        return Blocks.section(
            "acknowledged", "Acknowledged", count: acknowledged.count,
            Blocks.table(
                "Acknowledged redemptions", head: ["Number", "Offer", "Redeemed", "Cause", "Person", "Acknowledged"],
                rows: rows))
    }
}
