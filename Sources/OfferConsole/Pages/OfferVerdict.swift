/// The decision about one offer of the catalogue for a customer.
package final class OfferVerdict: Sendable {
    package final class Reason: Sendable {
        /// A sentence, as `DecisionReason.text` writes it.
        let text: String
        /// What would supply an unknown fact; nil if nothing is unknown.
        let remedy: String?

        package init(_ text: String, remedy: String? = nil) {
            self.text = text
            self.remedy = remedy
        }
    }

    let offerID: String
    let productID: String
    /// nil for an inline rule, and for an offer without a rule.
    let rule: String?
    /// Empty if the customer is eligible.
    let reasons: [Reason]
    /// True if the result of a what-if differs from that of the known data.
    let isChanged: Bool
    /// The terms that the customer agrees to, in words; nil if they are unknown.
    let terms: String?

    package init(
        offerID: String, productID: String, rule: String?, reasons: [Reason], isChanged: Bool = false,
        terms: String? = nil
    ) {
        self.offerID = offerID
        self.productID = productID
        self.rule = rule
        self.reasons = reasons
        self.isChanged = isChanged
        self.terms = terms
    }

    private func grantLink(_ customer: PageAddress) -> HTML {
        let address = customer.moved(to: "/grant").with("product", productID).with("offer", offerID)
        return """
            <p><a href="\(address)">Grant <span class="visually-hidden">\(UserText.short(offerID, bytes: 64))</span> \
            to this customer</a></p>
            """
    }

    private var badge: HTML {
        if reasons.isEmpty { return Blocks.badge(.good, "\(Icon.tick)eligible") }
        guard reasons.allSatisfy({ $0.remedy != nil }) else {
            return Blocks.badge(.neutral, "\(Icon.cross)not eligible")
        }
        return Blocks.badge(.warning, "\(Icon.question)not known")
    }

    /// - Parameter customer: the page of the customer; nil if the offer cannot be granted.
    func html(grantedFrom customer: PageAddress?) -> HTML {
        let grant = reasons.isEmpty ? nil : customer.map(grantLink)
        let rule = rule.map { #"<span class="note">by the rule \#(UserText.text($0))</span>"# as HTML }
        let terms: HTML? = terms.map { "<p>\(UserText.text($0))</p>" }
        let changed: HTML? = isChanged ? Blocks.badge(.accent, "changed by the what-if") : nil
        let list: HTML? =
            reasons.isEmpty
            ? nil
            : """
            <ul class="reasons">\(reasons.html { reason in
                "<li>\(UserText.text(reason.text))\(reason.remedy.map { " <b>\($0)</b>" as HTML })</li>"
            })</ul>
            """
        return """
            <li class="verdict"><div class="verdict-state">\(badge)</div><div><h3>\(UserText.code(offerID))\
             <span class="note">for</span> \(UserText.code(productID))</h3>\(rule)\(changed)\(terms)\(list)\(grant)</div></li>

            """
    }
}

/// The customer's state and alternative, as an app gets them beside the offers.
package struct AppAnswer: Sendable {
    /// The state in the word that the app gets; nil if nothing certain is known.
    let state: String?
    let hasOffer: Bool
    /// The content that the app shows instead of an offer, such as `the message pause`; nil for nothing.
    let alternative: String?

    package init(state: String?, hasOffer: Bool, alternative: String?) {
        self.state = state
        self.hasOffer = hasOffer
        self.alternative = alternative
    }

    var html: HTML {
        let told: HTML =
            state.map { "An app is told the state <code>\($0)</code>." }
            ?? "An app is told no state: nothing certain is known."
        guard !hasOffer else { return "<p>\(told)</p>" }
        return "<p>\(told) Instead of an offer, it shows \(UserText.text(alternative ?? "nothing")).</p>"
    }
}

/// A change to the known data for which the offers are decided. Nothing is stored.
///
/// Fields, beside those of the customer's address: `autoRenew` (`as_is`, `on` or `off`), `factName` (up to 64 bytes) and
/// `factValue` (up to 1024 bytes).
package final class WhatIf: Sendable {
    /// The raw values are those of the form.
    package enum AutoRenew: String, CaseIterable, Sendable {
        case asIs = "as_is"
        case on, off

        var words: String {
            switch self {
            case .asIs: "as it is"
            case .on: "on"
            case .off: "off"
            }
        }
    }

    package let autoRenew: AutoRenew
    package let factName: String
    package let factValue: String

    package init(autoRenew: AutoRenew = .asIs, factName: String = "", factValue: String = "") {
        self.autoRenew = autoRenew
        self.factName = factName
        self.factValue = factValue
    }

    var isEmpty: Bool { autoRenew == .asIs && factName.isEmpty }

    func form(_ address: PageAddress) -> HTML {
        let options = AutoRenew.allCases.html {
            Form.option($0.rawValue, $0.words, isSelected: $0 == autoRenew)
        }
        let open: StaticString = isEmpty ? "" : " open"
        return """
            <details class="what-if"\(open)><summary>What if …</summary>
            <form class="filter" method="get" action="\(address.path)">\(address.hiddenFields)
            \(Form.select("autoRenew", label: "Auto-renew is", options))\
            \(Form.text("factName", label: "The fact", value: factName, attributes: #" maxlength="64""#))\
            \(Form.text("factValue", label: "has the value", value: factValue, attributes: #" maxlength="1024""#))\
            <button>Decide</button></form>
            <p class="note">This only decides again. It stores and signs nothing. Digits are a number, and true and false are \
            no texts, unless they are in quotation marks.</p></details>

            """
    }

    func notice(_ address: PageAddress) -> HTML? {
        guard !isEmpty else { return nil }
        let renewal: HTML? = autoRenew == .asIs ? nil : "auto-renew were <b>\(autoRenew.words)</b>"
        let fact: HTML? = factName.isEmpty ? nil : "\(UserText.code(factName)) were \(UserText.code(factValue))"
        let both: StaticString = renewal != nil && fact != nil ? " and " : ""
        return Blocks.notice(
            .information, "This shows the offers if \(renewal)\(both)\(fact).",
            #"<p>Nothing is changed. <a href="\#(address)">Show the offers for the known data</a></p>"#)
    }
}
