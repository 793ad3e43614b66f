/// A notification like Apple's, with a transaction and a renewal info, each signed by a chain made for tests.
struct TestNotification: Sendable {
    var type = "DID_RENEW"
    var subtype: String?
    var uuid = "002e14d5-51f5-4503-b5a8-c3a1af68eb20"
    /// In milliseconds.
    var signedDate: Int64 = 1_761_130_767_160
    var environment = "Production"
    var transaction: SamplePayload? = SamplePayload.transaction.without(
        "revocationDate", "revocationReason", "revocationType", "revocationPercentage", "isUpgraded")
    var renewalInfo: SamplePayload? = SamplePayload.renewalInfo
    /// Applied to the content and to the notification last.
    var changeData: @Sendable (SamplePayload) -> SamplePayload = { $0 }
    var change: @Sendable (SamplePayload) -> SamplePayload = { $0 }

    /// The notification as a compact JWS.
    func jws(signedBy chain: TestChain) throws -> String {
        var data = SamplePayload.data.with("environment", "\"\(environment)\"").with("status", "1")
            .without("consumptionRequestReason")
        data = try Self.put(transaction, "signedTransactionInfo", into: data, environment, chain)
        data = try Self.put(renewalInfo, "signedRenewalInfo", into: data, environment, chain)
        var notification = SamplePayload.notification(type, changeData(data))
            .with("notificationUUID", "\"\(uuid)\"").with("signedDate", "\(signedDate)")
        if let subtype { notification = notification.with("subtype", "\"\(subtype)\"") }
        return try chain.jws(change(notification))
    }

    /// The body that the App Store posts.
    func body(signedBy chain: TestChain) throws -> String { #"{"signedPayload":"\#(try jws(signedBy: chain))"}"# }

    private static func put(
        _ payload: SamplePayload?, _ name: String, into data: SamplePayload, _ environment: String, _ chain: TestChain
    ) throws -> SamplePayload {
        guard let payload else { return data.without(name) }
        return data.with(name, "\"\(try chain.jws(payload.with("environment", "\"\(environment)\"")))\"")
    }
}
