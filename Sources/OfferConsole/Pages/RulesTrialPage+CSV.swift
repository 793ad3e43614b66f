import OfferCore

extension RulesTrialView.Result {
    /// The columns of `offer-signer rules try --format csv` without the samples of customers: a line for each offer and
    /// reason, and a line `eligible`.
    package var csv: String {
        var table = CSV(head: [
            "bundleID", "environment", "productID", "offerID", "ruleInForce", "newRule", "reason", "inForce", "new",
            "gained", "lost",
        ])
        for offer in offers {
            let names = [offer.app, offer.environment, offer.productID, offer.offerID].map(CSV.Cell.text)
            let rules = [CSV.Cell(offer.inForce.rule), CSV.Cell(offer.new.rule)]
            table.add(
                names + rules + [
                    .text("eligible"), .number(offer.inForce.eligible ?? 0), .number(offer.new.eligible ?? 0),
                    .number(offer.gained), .number(offer.lost),
                ])
            for reason in offer.reasons {
                table.add(
                    names + rules + [.text(reason.code), .number(reason.inForce), .number(reason.new), .empty, .empty])
            }
        }
        return table.text
    }
}
