package import OfferCore
import OfferCrypto
package import OfferEligibility

/// A notification of version 1 about one of our apps, from someone who knows the app's shared secret.
///
/// The password only authenticates the sender. Facts come only from data that Apple signed: the purchases in the
/// receipt. The other members name the event, for logs and metrics. Without a receipt that can be verified here, there
/// are no facts.
///
/// The password is not a property of this value. The stored and forwarded body still contains it.
package struct VerifiedLegacyNotification: Sendable {
    package let app: ExpectedApp
    package let environment: AppStoreEnvironment
    package let name: NotificationName
    /// The identity, derived from the content: see ``LegacyNotification/identity()``. It has 35 bytes.
    package let notificationUUID: FieldText
    /// The receipt; nil if it is absent, refused, or a receipt of a single transaction, which cannot be verified here.
    package let receipt: VerifiedReceipt?
    /// The reason that the receipt is refused; nil if it is not refused. The password is still correct, so sending the
    /// notification again would not help.
    package let receiptRefusal: DataRefusal?
    /// The receipt as signed, in CMS.
    private let receiptText: [UInt8]

    /// Checks the app, the password, the environment and the receipt, in this order.
    /// - Parameters:
    ///   - sharedSecret: returns the shared secret of an app; nil if the app has none.
    ///   - verifyReceipt: verifies CMS in BER or DER. It is called at most once, and only if the password is correct.
    package init(
        _ notification: LegacyNotification, for apps: ExpectedApps, sharedSecret: (BundleID) -> Secret?,
        verifyReceipt: (_ receipt: [UInt8]) throws(DataRefusal) -> VerifiedReceipt
    ) throws(LegacyNotificationFailure) {
        guard let app = apps[notification.bundleID] else { throw .check(.anotherBundleID) }
        try Self.checkPassword(of: notification, against: sharedSecret(app.bundleID))
        environment = try Self.environment(of: notification, for: app)
        do throws(LegacyNotificationFailure) {
            (receipt, receiptText) = try Self.receipt(of: notification, app, environment, verifyReceipt)
            receiptRefusal = nil
        } catch {
            guard case .receipt(let refusal) = error, !refusal.isRetryable else { throw error }
            (receipt, receiptText, receiptRefusal) = (nil, [], refusal)
        }
        do { notificationUUID = try notification.identity() } catch { throw .unavailable }
        self.app = app
        name = notification.name
    }

    /// The time at which Apple signed the receipt; nil without a receipt. Version 1 has no other signed date.
    package var signedDate: Timestamp? { receipt?.receipt.creationDate }

    /// The facts of the purchases in the receipt; none without a receipt.
    package var facts: [SubscriberFact] {
        get throws(OpenSSLError) { try receipt?.facts(text: receiptText) ?? [] }
    }

    /// The signed text that the digest in the facts covers.
    package var signedTexts: [[UInt8]] { receipt == nil ? [] : [receiptText] }
}

extension VerifiedLegacyNotification {
    private static func checkPassword(
        of notification: LegacyNotification, against secret: Secret?
    ) throws(LegacyNotificationFailure) {
        guard let secret, !secret.reveal.isEmpty else { throw .noSharedSecret }
        let matches: Bool
        do { matches = try secret.matches(notification.password ?? Secret("")) } catch { throw .unavailable }
        guard matches else { throw .wrongPassword }
    }

    /// - Returns: the environment that the sender names. A receipt must be from the same environment.
    private static func environment(
        of notification: LegacyNotification, for app: ExpectedApp
    ) throws(LegacyNotificationFailure) -> AppStoreEnvironment {
        guard let environment = notification.environment else { throw .check(.environmentMissing) }
        guard app.environments.contains(environment) else { throw .check(.environmentNotAccepted) }
        return environment
    }

    private static func receipt(
        of notification: LegacyNotification, _ app: ExpectedApp, _ environment: AppStoreEnvironment,
        _ verify: (_ receipt: [UInt8]) throws(DataRefusal) -> VerifiedReceipt
    ) throws(LegacyNotificationFailure) -> (VerifiedReceipt?, text: [UInt8]) {
        guard let text = notification.latestReceipt else { return (nil, []) }
        guard let bytes = Base64.bytes(of: text.filter { !$0.isASCIIWhiteSpace }) else {
            throw .payload(PayloadError(.invalid(.notBase64), member: member))
        }
        // A receipt of a single transaction is a property list. Its first byte differs from the first byte of CMS.
        if bytes.first != DERTag.sequence.rawValue, (try? LegacyTransactionReceipt(bytes)) != nil { return (nil, []) }
        do throws(DataRefusal) {
            let verified = try verify(bytes)
            let origin = ExpectedOrigin(
                bundleID: app.bundleID, appAppleID: app.appAppleID, environments: [environment])
            do { try origin.check(verified.receipt.origin) } catch { throw DataRefusal(error) }
            return (verified, bytes)
        } catch {
            var refusal = error
            refusal.member = member
            throw .receipt(refusal)
        }
    }

    private static let member = "unified_receipt.latest_receipt"
}
