package import OfferCore

/// What happened to a customer, the newest first.
package final class TimelineView: Sendable {
    package enum Kind: Sendable {
        case purchase, renewal, autoRenew, ended, refund, billing, shown, reported, signed, redeemed, refused, grant,
            data

        var words: StaticString {
            switch self {
            case .purchase: "Purchase"
            case .renewal: "Renewal"
            case .autoRenew: "Auto-renew"
            case .ended: "End"
            case .refund: "Refund"
            case .billing: "Payment"
            case .shown: "Shown"
            case .reported: "App"
            case .signed: "Signed"
            case .redeemed: "Redeemed"
            case .refused: "Refused"
            case .grant: "Grant"
            case .data: "Data"
            }
        }

        fileprivate var tone: StaticString {
            switch self {
            case .purchase, .renewal: "money"
            case .refund, .billing, .ended, .refused: "loss"
            case .signed, .redeemed, .shown, .grant: "offer"
            case .autoRenew, .reported, .data: "plain"
            }
        }
    }

    package final class Entry: Sendable {
        package let at: Timestamp
        let kind: Kind
        /// A sentence. It may contain user text.
        let sentence: String

        package init(at: Timestamp, kind: Kind, sentence: String) {
            self.at = at
            self.kind = kind
            self.sentence = sentence
        }
    }

    let entries: [Entry]
    let newer: PageAddress?
    let older: PageAddress?

    package init(entries: [Entry], newer: PageAddress? = nil, older: PageAddress? = nil) {
        self.entries = entries
        self.newer = newer
        self.older = older
    }

    func html(_ clock: ConsoleClock) -> HTML {
        guard !entries.isEmpty else {
            return Blocks.empty(
                "Nothing has happened yet", "Purchases, renewals and offers of the customer appear here.")
        }
        let items = entries.html { entry in
            """
            <li class="\(entry.kind.tone)">\(clock.html(entry.at))<b>\(entry.kind.words)</b>\
            <span>\(UserText.text(entry.sentence))</span></li>

            """
        }
        return "<ol class=\"timeline\">\(items)</ol>\(Blocks.pages(newer: newer, older: older))"
    }
}
