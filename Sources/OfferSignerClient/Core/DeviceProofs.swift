/// App Store data of this device that shows what the customer has bought. The StoreKit layer gathers it.
public struct DeviceProofs: Hashable, Sendable {
    /// `jwsRepresentation` of transactions; together with the renewal infos, at most 48.
    public var signedTransactions: [String]
    /// `jwsRepresentation` of renewal infos. Each counts only with a transaction of its subscription.
    public var signedRenewalInfos: [String]
    public var signedAppTransaction: String?
    /// Any transaction of the customer, or the `appTransactionID`. A JWS is bound to it.
    public var transactionID: String?
    /// The App Store environment, such as `Sandbox`; nil lets the service find it.
    public var environment: String?

    public init(
        signedTransactions: [String] = [], signedRenewalInfos: [String] = [], signedAppTransaction: String? = nil,
        transactionID: String? = nil, environment: String? = nil
    ) {
        self.signedTransactions = signedTransactions
        self.signedRenewalInfos = signedRenewalInfos
        self.signedAppTransaction = signedAppTransaction
        self.transactionID = transactionID
        self.environment = environment
    }

    public static let none = DeviceProofs()
}
