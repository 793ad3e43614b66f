extension AppReceipt {
    /// The origin. In sandbox receipts, the app's Apple ID is 0. Apple does not document the attribute, so a receipt
    /// without it is checked like a transaction, only by its bundle ID.
    package var origin: PayloadOrigin {
        guard let appAppleID, appAppleID != 0 else {
            return PayloadOrigin(.transaction, bundleID: bundleID, environment: environment)
        }
        // No app has an Apple ID beyond Int64, so such an ID counts as another app's.
        let id = Int64(exactly: appAppleID) ?? -1
        return PayloadOrigin(.appTransaction, bundleID: bundleID, appAppleID: id, environment: environment)
    }
}
