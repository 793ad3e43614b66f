import AppStoreData
import OfferCore
import OfferEligibility

extension FuzzTarget {
    /// Notifications of version 1 for an app whose shared secret is `secret`.
    static let legacyNotification = FuzzTarget("legacy-notification") { input throws(BrokenPromise) in
        let limits = LegacyNotification.Limit.self
        guard
            case .object(let members)? = try? JSONReader.read(
                input, maximumCount: limits.count, maximumTotal: limits.total),
            LegacyNotification.isLegacy(members)
        else { return }
        let first = try verify(members)
        guard let verified = first.notification else { return }
        try promise("the password is the shared secret", members["password"] == .string(Array(sharedSecret.utf8)))
        try promise("the app is ours", members["bid"] == .string(verified.app.bundleID.text.utf8))
        try promise("the environment is the app's", verified.app.environments.contains(verified.environment))
        try promise("the identity fits a field", (1...64).contains(verified.notificationUUID.utf8.count))
        try promise("a receipt that counts was verified", verified.receipt == nil || first.receipts == 1)
        try checkReceipt(of: verified)
        try checkOtherForms(of: verified, members)
    }

    /// Verifies a notification and counts the receipts that are verified for it.
    private static func verify(
        _ members: JSONObject
    ) throws(BrokenPromise) -> (notification: VerifiedLegacyNotification?, receipts: Int) {
        let notification: LegacyNotification
        do throws(PayloadError) { notification = try LegacyNotification(members) } catch {
            try promise("no error quotes a notification", !Marked.isIn("\(error)"))
            return (nil, 0)
        }
        var receipts = 0
        do throws(LegacyNotificationFailure) {
            let verified = try VerifiedLegacyNotification(
                notification, for: FuzzedApps.all, sharedSecret: { _ in Secret(sharedSecret) }
            ) { receipt throws(DataRefusal) in
                receipts += 1
                return try verifier.verifyReceipt(receipt, at: now)
            }
            return (verified, receipts)
        } catch {
            try promise("no failure quotes a notification", !Marked.isIn("\(error) \(error.sentence)"))
            let isAuthentic = members["password"] == .string(Array(sharedSecret.utf8))
            try promise("a receipt is verified only for the shared secret", receipts == 0 || isAuthentic)
            return (nil, receipts)
        }
    }

    private static func checkReceipt(of verified: VerifiedLegacyNotification) throws(BrokenPromise) {
        guard let facts = try? verified.facts else { throw BrokenPromise(promise: "facts can be derived") }
        try promise("a date is that of the receipt", verified.signedDate == verified.receipt?.receipt.creationDate)
        guard let receipt = verified.receipt?.receipt else {
            return try promise("without a receipt there are no facts", facts.isEmpty)
        }
        try promise("the receipt is of our app", receipt.bundleID == verified.app.bundleID)
        try promise("the receipt is of the environment", receipt.environment == verified.environment)
        let purchases = Set(receipt.purchases.map(\.transactionID))
        try promise(
            "a fact is about a purchase in the receipt", facts.allSatisfy { purchases.contains($0.key.id) })
    }

    /// Neither the order of members nor an unknown one changes what counts.
    private static func checkOtherForms(
        of verified: VerifiedLegacyNotification, _ members: JSONObject
    ) throws(BrokenPromise) {
        var reversed = JSONObject()
        for member in members.members.reversed() { _ = reversed.add(member.name, member.value) }
        let again = try verify(reversed).notification
        try promise("the order of members does not count", again?.notificationUUID == verified.notificationUUID)
        var extended = members
        guard extended.add(Array("fuzz".utf8), .array([.null])) else { return }
        let other = try verify(extended).notification
        try promise("other content has another identity", other?.notificationUUID != verified.notificationUUID)
        try promise(
            "an unknown member is ignored",
            other.map { $0.name == verified.name && $0.receipt?.receipt == verified.receipt?.receipt } ?? false)
    }

    private static let sharedSecret = "secret"
    private static let verifier = AppStoreVerifier(roots: AppStoreKeys.roots, isDevelopment: true)
    private static let now = Timestamp(milliseconds: AppStoreKeys.now * 1000)
}
