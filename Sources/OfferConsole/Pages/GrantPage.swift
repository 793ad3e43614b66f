/// `GET /grant`: the form that grants an offer to a customer, with what the grant replaces and what still holds.
///
/// Action: `POST /grant` with the fields of the customer's address and `product`, `offer`, `reason`, `note` (up to 1,000
/// bytes), `ticket` (up to 100 bytes), `days` and `liftsLimits` (`yes` or absent).
package final class GrantFormView: Sendable {
    package final class Offer: Sendable {
        let productID: String
        let offerID: String
        /// The rule in words.
        let rule: String
        let ruleName: String?
        /// The limits of the customer in words.
        let limits: [String]
        /// nil if the offer has no total.
        let total: Int?

        package init(
            productID: String, offerID: String, rule: String, ruleName: String?, limits: [String], total: Int?
        ) {
            self.productID = productID
            self.offerID = offerID
            self.rule = rule
            self.ruleName = ruleName
            self.limits = limits
            self.total = total
        }
    }

    /// The values of the form.
    package final class Values: Sendable {
        let reason: String
        let note: String
        let ticket: String
        let days: String
        let liftsLimits: Bool

        package init(
            reason: String = "", note: String = "", ticket: String = "", days: String = "", liftsLimits: Bool = false
        ) {
            self.reason = reason
            self.note = note
            self.ticket = ticket
            self.days = days
            self.liftsLimits = liftsLimits
        }
    }

    /// The rights of the person, and the app's choices.
    package final class Choices: Sendable {
        let reasons: [String]
        let days: Int
        let mayLiftLimits: Bool
        /// The number of grants that the person may still make today alone.
        let budget: Int

        package init(reasons: [String], days: Int, mayLiftLimits: Bool, budget: Int) {
            self.reasons = reasons
            self.days = days
            self.mayLiftLimits = mayLiftLimits
            self.budget = budget
        }
    }

    let frame: PageFrame
    let customer: PageAddress
    let offer: Offer
    let choices: Choices
    let values: Values
    /// The reasons that would still refuse the offer, with and without the limits of the customer.
    let stillRefused: (keepingLimits: [OfferVerdict.Reason], liftingLimits: [OfferVerdict.Reason])
    /// The problem of a form that was refused; nil for a new form.
    let problem: String?

    package init(
        frame: PageFrame, customer: PageAddress, offer: Offer, choices: Choices, values: Values,
        stillRefused: (keepingLimits: [OfferVerdict.Reason], liftingLimits: [OfferVerdict.Reason]), problem: String?
    ) {
        self.frame = frame
        self.customer = customer
        self.offer = offer
        self.choices = choices
        self.values = values
        self.stillRefused = stillRefused
        self.problem = problem
    }

    package var html: HTML {
        let refusal = problem.map { Blocks.notice(.problem, "The offer was not granted.", "<p>\($0)</p>") }
        return frame.page(
            "Grant an offer", in: .find,
            """
            <p class="back"><a href="\(customer)">← Back to the customer</a></p>
            <h1>Grant an offer</h1>\(refusal)\(effect)\(form)
            """)
    }

    private var effect: HTML {
        let name = offer.ruleName.map { " \(UserText.text($0))" as HTML }
        let limits = offer.limits.html { "<li>\($0)</li>" }
        let lifted: HTML =
            choices.mayLiftLimits
            ? "The form can lift these limits of the customer too:"
            : "These limits of the customer still hold:"
        let total: HTML =
            offer.total.map { "the limit of \(Words.grouped(Int64($0))) for all customers together; " } ?? ""
        return Blocks.section(
            "effect", "\(UserText.code(offer.offerID)) for \(UserText.code(offer.productID))",
            """
            <p>The grant replaces the rule\(name) for this customer, for one use: <q>\(offer.rule)</q></p>
            <p>\(lifted)</p><ul>\(limits)</ul>
            <p>Always in force: \(total)the customer must have bought a subscription of their own, must not have another \
            offer pending, and the App Store must be able to collect the payment.</p>
            \(present)
            """)
    }

    /// The reasons that still prevent the offer.
    private var present: HTML {
        func list(_ reasons: [OfferVerdict.Reason]) -> HTML {
            #"<ul class="reasons">\#(reasons.html { "<li>\(UserText.text($0.text))</li>" })</ul>"#
        }
        let (kept, lifted) = stillRefused
        if kept.isEmpty {
            return Blocks.notice(.success, "With the grant, the customer can redeem the offer now.")
        }
        if lifted.isEmpty {
            return Blocks.notice(.warning, "A limit of the customer would still refuse the offer.", list(kept))
        }
        return Blocks.notice(.warning, "Even with the grant, the offer would be refused now.", list(lifted))
    }

    private var form: HTML {
        let options = choices.reasons.html { Form.option($0, $0.words, isSelected: $0 == values.reason) }
        let checked: StaticString = values.liftsLimits ? " checked" : ""
        let lifting: HTML? =
            choices.mayLiftLimits
            ? """
            <div class="field check"><input type="checkbox" id="liftsLimits" name="liftsLimits" value="yes"\(checked)>
            <label for="liftsLimits">Lift the limits of the customer</label></div>

            """ : nil
        let budget: HTML =
            choices.budget > 0
            ? "You can make \(Words.count(choices.budget, "more grant")) today without a second person."
            : "You have used up today's budget: another person must approve this grant before it takes effect."
        return """
            <form class="card" method="post" action="/grant">\(customer.hiddenFields)
            <input type="hidden" name="product" value="\(offer.productID)">\
            <input type="hidden" name="offer" value="\(offer.offerID)">
            \(Form.select("reason", label: "Reason", options))\
            <div class="field"><label for="note">Note</label>
            <p class="hint" id="note-hint">What happened. The note stays out of the audit trail.</p>
            <textarea id="note" name="note" rows="3" maxlength="1000" aria-describedby="note-hint">\
            \(values.note)</textarea></div>
            \(Form.text("ticket", label: "Ticket", value: values.ticket, attributes: #" maxlength="100""#))\
            \(Form.text(
                "days", label: "Valid for days", value: values.days.isEmpty ? "\(choices.days)" : values.days,
                attributes: #" inputmode="numeric" maxlength="3" required"#))\
            \(lifting)
            <p class="note">\(budget)</p>
            <button>Grant the offer</button></form>

            """
    }
}

extension String {
    /// A reason of the configuration as people read it.
    fileprivate var words: String { replacing("_", with: " ") }
}
