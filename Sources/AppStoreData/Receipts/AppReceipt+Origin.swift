extension AppReceipt {
    /// Sandbox receipts have 0 for the app's Apple ID. Apple does not document the attribute, so a receipt without it
    /// is checked like a transaction, only by its bundle ID.
    package var origin: PayloadOrigin {
        guard let appAppleID, appAppleID != 0 else {
            return PayloadOrigin(.transaction, bundleID: bundleID, environment: environment)
        }
        // No app has a number beyond Int64, so such a number is another app's.
        let id = Int64(exactly: appAppleID) ?? -1
        return PayloadOrigin(.appTransaction, bundleID: bundleID, appAppleID: id, environment: environment)
    }
}
