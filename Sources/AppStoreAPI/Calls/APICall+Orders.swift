import OfferCore

/// The number of an order, as on the receipt that Apple mails to the customer. It is part of a path.
package struct OrderNumber: Hashable, Sendable {
    package let text: String

    package static let sizes = 1...64

    /// - Returns: nil unless the text consists of up to 64 letters and digits.
    package init?(_ text: String) {
        let isNumber = text.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & ~0x20)
        }
        guard Self.sizes.contains(text.utf8.count), isNumber else { return nil }
        self.text = text
    }
}

/// The answer to Look Up Order ID, not yet verified.
package struct OrderTransactions: Hashable, Sendable {
    /// Each is a JWS in compact form. Empty if the app has no such order.
    package let signedTransactions: [[UInt8]]
    /// The number of entries that are not text.
    package var unreadableCount = 0
}

extension APICall<OrderTransactions> {
    /// Creates a Look Up Order ID request. The App Store answers it only in production.
    package static func transactions(ofOrder number: OrderNumber) -> Self {
        APICall(.orderLookup, .get, ["inApps", "v1", "lookup", number.text]) { answer throws(AnswerError) in
            // 1: the order is invalid for the app.
            guard try answer.integer("status") == 0 else { return OrderTransactions(signedTransactions: []) }
            let entries = try answer.knownTexts("signedTransactions")
            return OrderTransactions(
                signedTransactions: entries.texts, unreadableCount: entries.unreadableCount)
        }
    }
}
