/// A notification that is not signed yet.
package struct PlannedNotification: Sendable {
    package let uuid: String
    package let type: String
    package let subtype: String?
    /// The `transactionId` of its transaction.
    package let transactionID: String
    package let originalTransactionID: String
    /// In milliseconds since 1970.
    package let signedDate: Int64
    let status: Int
    let transaction: SamplePayload
    let renewalInfo: SamplePayload
    /// The seats that `UNCLAIM_SEATS` names. Such a notification has no transaction.
    var unclaimedSeats: [String] = []

    /// Whether it has a transaction, a renewal info and a status.
    package var hasPurchase: Bool { unclaimedSeats.isEmpty }
}
