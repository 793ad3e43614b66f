/// A function that verifies a compact JWS inside a notification.
package typealias InnerVerifier<Failure: Error> = (_ jws: [UInt8], _ kind: PayloadKind) throws(Failure) -> PayloadObject

/// The signed data inside a notification. Each part has been verified separately and belongs to the notification.
package struct NotificationContents: Hashable, Sendable {
    package private(set) var transaction: SignedTransaction?
    /// The subscription; nil if the transaction is missing, because renewal info by itself names no app.
    package private(set) var record: SubscriptionRecord?
    package private(set) var appTransaction: AppTransaction?

    /// - Parameter verify: verifies a JWS. It is called once for each.
    package init<Failure: Error>(
        of notification: AppStoreNotification, verify: InnerVerifier<Failure>
    ) throws(NotificationFailure<Failure>) {
        let reader = InnerReader<Failure>(outer: notification.origin)
        switch notification.content {
        case .data(let data): try read(data, with: reader, verify)
        case .appData(let app):
            appTransaction = try reader.read(
                app.signedAppTransactionInfo, "appData.signedAppTransactionInfo", verify)
        case .summary, .externalPurchaseToken, .unknown: break
        }
    }

    private mutating func read<Failure: Error>(
        _ data: NotificationData, with reader: InnerReader<Failure>, _ verify: InnerVerifier<Failure>
    ) throws(NotificationFailure<Failure>) {
        let member = "data.signedRenewalInfo"
        transaction = try reader.read(data.signedTransactionInfo, "data.signedTransactionInfo", verify)
        let renewalInfo: RenewalInfo? = try reader.read(data.signedRenewalInfo, member, verify)
        guard let transaction, let renewalInfo else { return }
        do { record = try SubscriptionRecord(transaction, renewalInfo) } catch {
            throw NotificationFailure(.check(error), member: member)
        }
    }
}

/// A reader of each JWS inside one notification.
private struct InnerReader<Failure: Error> {
    let outer: PayloadOrigin

    func read<Payload: SignedPayload>(
        _ jws: [UInt8]?, _ member: String, _ verify: InnerVerifier<Failure>
    ) throws(NotificationFailure<Failure>) -> Payload? {
        guard let jws else { return nil }
        let object: PayloadObject
        let payload: Payload
        do { object = try verify(jws, Payload.kind) } catch {
            throw NotificationFailure(.notVerified(error), member: member)
        }
        do { payload = try Payload(object) } catch {
            throw NotificationFailure(.payload(error), member: member)
        }
        do { try check(payload.origin) } catch { throw NotificationFailure(.check(error), member: member) }
        return payload
    }

    /// Checks that the data comes from the notification's app and environment. Data from 2021 may name no environment,
    /// but the enclosing notification does.
    private func check(_ inner: PayloadOrigin) throws(CheckFailure) {
        let environment = inner.environment == nil ? nil : outer.environment
        let expected = ExpectedOrigin(
            bundleID: outer.bundleID, appAppleID: outer.appAppleID, environments: environment.map { [$0] })
        try expected.check(inner)
    }
}
