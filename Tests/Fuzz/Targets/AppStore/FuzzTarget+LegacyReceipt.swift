import AppStoreData
import OfferCore

extension FuzzTarget {
    /// Receipts of single transactions, which iOS 6 and earlier had.
    static let legacyReceipt = FuzzTarget("legacy-receipt") { input throws(BrokenPromise) in
        let receipt: LegacyTransactionReceipt
        do throws(LegacyTransactionReceiptError) { receipt = try LegacyTransactionReceipt(input) } catch {
            return try promise("no error quotes a receipt", !Marked.isIn("\(error)"))
        }
        try promise("a receipt has a bounded size", input.count <= LegacyTransactionReceipt.maximumSize)
        guard let id = receipt.transactionID else { return }
        try checkLength(of: id)
        // The ID is in a list that is base64, so its text is longer than the ID.
        try promise("the ID is smaller than the receipt", id.transactionID.text.utf8.count < input.count)
    }
}
