import OfferCore

// What was signed and redeemed, and the record of who could have had an offer.

extension CustomerView {
    var ledgerSection: HTML {
        let link = authorisations.isEmpty && redemptions.isEmpty ? nil : CustomerTable.ledger.link(self)
        return Blocks.section(
            "ledger", "Ledger", "<h3>Signed</h3>\(signedTable)<h3>Redeemed</h3>\(redeemedTable)\(link)")
    }

    private var signedTable: HTML {
        guard !authorisations.isEmpty else {
            return Blocks.empty("No offer with a rule was signed for this customer")
        }
        let rows = authorisations.html { line in
            Blocks.row([
                offer(line.offerID, line.productID), line.state.badge, frame.clock.html(line.at),
                frame.clock.html(line.expiresAt), line.source.html,
            ])
        }
        return Blocks.table("Signed offers", head: ["Offer", "State", "Signed", "Expires", "Allowed by"], rows: rows)
    }

    private var redeemedTable: HTML {
        guard !redemptions.isEmpty else { return Blocks.empty("The customer has redeemed no offer") }
        let rows = redemptions.html { line in
            Blocks.row([
                offer(line.offerID, line.productID), "\(line.kind.words)", frame.clock.html(line.at), line.explanation,
                line.transactionID.map(UserText.code) ?? "not begun",
            ])
        }
        return Blocks.table(
            "Redeemed offers", head: ["Offer", "Kind", "Redeemed", "Signature", "Transaction"], rows: rows)
    }

    var exposureSection: HTML {
        let rows = exposures.html { line in
            Blocks.row([
                line.offerID.map { offer($0, line.productID) }
                    ?? "introductory offer of \(UserText.code(line.productID))",
                line.isHeldOut ? Blocks.badge(.neutral, "held out") : Blocks.badge(.accent, "offered"),
                line.sample.map(UserText.text) ?? "–", frame.clock.html(line.at), line.source.html,
                line.placement.map(UserText.text) ?? "–",
            ])
        }
        return Blocks.section(
            "exposures", "Exposures", count: exposures.count,
            exposures.isEmpty
                ? Blocks.empty(
                    "No exposure is recorded",
                    "The first decision that signs an offer, or holds the customer out of it, is recorded here.")
                : Blocks.table(
                    "Exposures", head: ["Offer", "Arm", "Sample", "First time", "Allowed by", "Place in the app"],
                    rows: rows))
    }

    private func offer(_ offerID: String, _ productID: String) -> HTML {
        #"\#(UserText.code(offerID)) <span class="note">\#(UserText.text(productID))</span>"#
    }
}

extension CustomerView.Source {
    fileprivate var html: HTML {
        let way: StaticString? =
            switch channel {
            case "decision": "in a decision"
            case "retention": "in a retention message"
            default: nil
            }
        let name = rule.map { "the rule \(UserText.text($0))" as HTML }
        guard name != nil || way != nil else { return "not recorded" }
        return "<span>\(name ?? "an inline rule") \(way)</span>"
    }
}

extension CustomerView.Authorisation.State {
    fileprivate var badge: HTML {
        switch self {
        case .outstanding: Blocks.badge(.accent, "outstanding")
        case .redeemed: Blocks.badge(.good, "redeemed")
        case .expired: Blocks.badge(.neutral, "expired")
        case .withdrawn: Blocks.badge(.neutral, "withdrawn")
        }
    }
}

extension CustomerView.Redemption {
    fileprivate var explanation: HTML {
        switch isAuthorised {
        case true?: Blocks.badge(.good, "\(Icon.tick)of this service")
        case false?: Blocks.badge(.bad, "\(Icon.warning)none known")
        case nil: "not needed"
        }
    }
}
