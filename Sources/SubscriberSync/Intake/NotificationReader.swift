package import AppStoreData
import OfferConfiguration
package import OfferCore
import OfferCrypto
package import OfferEligibility
package import SubscriberStore

/// Verifies notifications and derives their facts. The intake and `offer-signer database rebuild` use it.
package struct NotificationReader: Sendable {
    /// A notification to store.
    package struct Reading: Sendable {
        package let app: AppScope
        package let notification: NotificationRecord
        let facts: [SubscriberFact]
        /// The texts in the notification that Apple signed. The facts contain their digests.
        let signedTexts: [[UInt8]]
        /// The reason a genuine notification has no facts; nil if nothing is wrong with it.
        package let fault: DataRefusal?
        /// True if the notification does not name the app. It is stored, but not forwarded.
        package let isAppAssumed: Bool
        /// True if this version knows no content of the notification, so nothing but the notification itself is stored.
        package let isUnknown: Bool
        /// The certificate chains to check for revocation.
        let chains: [any CertificatePath]
        /// The subscription to query the App Store about, because the notification reports a change that it does not prove.
        package var unproven: TransactionID?
    }

    private let verifier: AppStoreVerifier

    package init(_ verifier: AppStoreVerifier) {
        self.verifier = verifier
    }

    /// Verifies a notification that just arrived, comes from the App Store's history, or was stored earlier.
    /// - Parameters:
    ///   - catalogue: supplies the shared secrets for notifications of version 1.
    ///   - now: the time of reception.
    /// - Throws: a refusal, if the notification is not genuine, is not about a configured app, or cannot be verified
    ///   now.
    package func read(
        _ body: NotificationBody, for apps: ExpectedApps, in catalogue: Catalogue, at now: Timestamp
    ) throws(DataRefusal) -> Reading {
        switch body {
        case .signed(let text): return try read(signed: text, for: apps, at: now)
        case .legacy(let notification):
            do throws(LegacyNotificationFailure) {
                return try read(legacy: notification, for: apps, in: catalogue, at: now)
            } catch { throw DataRefusal(error) }
        }
    }

    /// Verifies a notification of version 2, which takes about a quarter of a millisecond of CPU time.
    private func read(signed text: [UInt8], for apps: ExpectedApps, at now: Timestamp) throws(DataRefusal) -> Reading {
        let received = try verifier.receiveNotification(
            text, for: apps, at: .ofSigning(otherwise: now.milliseconds / 1000))
        let facts: [SubscriberFact]
        do { facts = try received.verified?.facts ?? [] } catch {
            throw DataRefusal(VerificationFailure(.verificationUnavailable))
        }
        let latest = facts.map(\.signedDate).reduce(received.signedDate, max)
        guard
            SigningTime.isPlausible(latest, at: now)
        else {
            throw DataRefusal(VerificationFailure(.signedInFuture))
        }
        return Reading(
            app: received.scope,
            notification: NotificationRecord(
                notificationUUID: received.notificationUUID, type: received.type.rawValue,
                subtype: received.subtype?.rawValue, signedDate: received.signedDate, receivedAt: now),
            facts: facts, signedTexts: received.verified?.signedTexts ?? [], fault: received.fault,
            isAppAssumed: received.isAppAssumed, isUnknown: received.verified == nil && received.fault == nil,
            chains: received.chains)
    }

    /// Verifies a notification of version 1 by the app's shared secret, and the receipt in it by Apple's signature.
    private func read(
        legacy notification: LegacyNotification, for apps: ExpectedApps, in catalogue: Catalogue, at now: Timestamp
    ) throws(LegacyNotificationFailure) -> Reading {
        let verified = try VerifiedLegacyNotification(
            notification, for: apps, sharedSecret: { catalogue.apps[$0]?.notifications.sharedSecret }
        ) { receipt throws(DataRefusal) in try verifier.verifyReceipt(receipt, at: now) }
        let facts: [SubscriberFact]
        do { facts = try verified.facts } catch { throw .unavailable }
        let signedDate = verified.signedDate ?? now
        guard SigningTime.isPlausible(signedDate, at: now) else {
            throw .receipt(DataRefusal(VerificationFailure(.signedInFuture)))
        }
        return Reading(
            app: AppScope(bundleID: verified.app.bundleID, environment: verified.environment),
            notification: NotificationRecord(
                notificationUUID: verified.notificationUUID, type: verified.name.type.rawValue,
                subtype: verified.name.subtype?.rawValue, signedDate: signedDate, receivedAt: now),
            facts: facts, signedTexts: verified.signedTexts, fault: verified.receiptRefusal,
            isAppAssumed: false, isUnknown: false, chains: [verified.receipt?.chain].compactMap { $0 },
            unproven: notification.isAboutRenewal ? notification.originalTransactionID?.transactionID : nil)
    }
}

extension LegacyNotification {
    /// True if it reports a choice about renewals. Its receipt, the only signed part, does not contain that choice.
    fileprivate var isAboutRenewal: Bool { type == .didChangeRenewalStatus || type == .didChangeRenewalPreference }
}
