import AppStoreData
import OfferCore

extension FuzzTarget {
    /// The signed content of an app receipt.
    static let receiptPayload = FuzzTarget("receipt-payload") { input throws(BrokenPromise) in
        let receipt: AppReceipt
        do throws(ReceiptPayloadError) { receipt = try AppReceipt(content: input) } catch {
            return try promise("no error quotes a receipt", !Marked.isIn("\(error)") && !Marked.isIn(error.sentence))
        }
        try promise(
            "a receipt has a bounded number of purchases", receipt.purchases.count <= AppReceipt.maximumPurchases)
        try promise("a purchase takes several bytes", receipt.purchases.count * 20 <= input.count)
        try promise("nothing may follow the content", (try? AppReceipt(content: input + [0])) == nil)
        try promise("content that is cut off is refused", (try? AppReceipt(content: input.dropLast())) == nil)
        try promise(
            "an unknown attribute changes nothing", (try? AppReceipt(content: adding(unknown, to: input))) == receipt)
        try promise(
            "a purchase more is the last one",
            (try? AppReceipt(content: adding(purchase, to: input)))?.purchases.dropLast().elementsEqual(
                receipt.purchases)
                ?? (receipt.purchases.count == AppReceipt.maximumPurchases))
        try promise(
            "an environment belongs to a known type",
            (receipt.environment == nil) == (receipt.type.environmentName == nil))
        // The years 0 to 9999, with offsets of up to a day.
        let times = -62_167_305_600_000...253_402_387_200_000 as ClosedRange<Int64>
        let dates = receipt.purchases.flatMap { [$0.purchaseDate, $0.expirationDate, $0.cancellationDate] }
        try promise(
            "every date has a year of four digits",
            ([receipt.creationDate, receipt.expirationDate] + dates).allSatisfy { date in
                date.map { times.contains($0.milliseconds) } ?? true
            })
    }

    /// An attribute of the type 9999.
    private static let unknown: [UInt8] = [0x30, 0x0A, 0x02, 0x02, 0x27, 0x0F, 0x02, 0x01, 0x01, 0x04, 0x01, 0xFF]

    /// Attribute 17 with the fewest attributes that a purchase has: product, transaction and date.
    private static let purchase: [UInt8] = {
        let attribute = { (type: UInt8, text: [UInt8]) in
            DERElement.der(0x30, [0x02, 0x02, 0x06, type, 0x02, 0x01, 0x01] + DERElement.der(0x04, text))
        }
        let set = DERElement.der(
            0x31,
            attribute(0xA6, DERElement.der(0x0C, Array("p".utf8)))
                + attribute(0xA7, DERElement.der(0x0C, Array("1".utf8)))
                + attribute(0xA8, DERElement.der(0x16, Array("2025-06-01T10:00:00Z".utf8))))
        return DERElement.der(0x30, [0x02, 0x01, 0x11, 0x02, 0x01, 0x01] + DERElement.der(0x04, set))
    }()

    /// Adds an attribute at the end of a set in DER.
    private static func adding(_ attribute: [UInt8], to set: [UInt8]) -> [UInt8] {
        let headerSize = set[1] < 0x80 ? 2 : 2 + Int(set[1] & 0x7F)
        return DERElement.der(0x31, set[headerSize...] + attribute)
    }
}
