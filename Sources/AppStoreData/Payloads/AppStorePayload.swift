/// A payload of any kind, recognised by its members.
package enum AppStorePayload: Hashable, Sendable {
    case transaction(SignedTransaction)
    case renewalInfo(RenewalInfo)
    case appTransaction(AppTransaction)
    case notification(AppStoreNotification)
    case retentionRequest(RetentionRequest)

    package init(_ payload: PayloadObject) throws(PayloadError) {
        switch try payload.kind() {
        case .transaction: self = .transaction(try SignedTransaction(payload))
        case .renewalInfo: self = .renewalInfo(try RenewalInfo(payload))
        case .appTransaction: self = .appTransaction(try AppTransaction(payload))
        case .notification: self = .notification(try AppStoreNotification(payload))
        case .retentionRequest: self = .retentionRequest(try RetentionRequest(payload))
        }
    }

    package var value: any SignedPayload {
        switch self {
        case .transaction(let transaction): transaction
        case .renewalInfo(let renewalInfo): renewalInfo
        case .appTransaction(let appTransaction): appTransaction
        case .notification(let notification): notification
        case .retentionRequest(let request): request
        }
    }
}
