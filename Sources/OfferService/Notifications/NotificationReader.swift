import AppStoreData
import OfferCore
import OfferCrypto
import SubscriberStore

/// Verifies notifications and derives their facts. The intake and `database rebuild` use it.
struct NotificationReader: Sendable {
    /// A notification to store.
    struct Reading: Sendable {
        let app: AppScope
        let notification: NotificationRecord
        let facts: [SubscriberFact]
        /// The reason a genuine notification brings no facts; nil if nothing is wrong with it.
        let fault: DataRefusal?
        /// The certificates that must not be revoked.
        let chains: [VerifiedChain]
    }

    private let verifier: AppStoreVerifier

    init(_ verifier: AppStoreVerifier) {
        self.verifier = verifier
    }

    /// Verifies a notification of version 2, which takes about a quarter of a millisecond of CPU time.
    /// - Parameters:
    ///   - text: a compact JWS.
    ///   - now: the time of reception.
    /// - Throws: if Apple did not sign it, if it is not about one of our apps, or if it cannot be verified now.
    func read(signed text: [UInt8], for apps: ExpectedApps, at now: Timestamp) throws(DataRefusal) -> Reading {
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
            facts: facts, fault: received.fault, chains: received.chains)
    }

}

extension Catalogue {
    /// The apps whose App Store data is accepted.
    var expectedApps: ExpectedApps {
        get throws(ExpectedAppError) {
            var expected: [ExpectedApp] = []
            for (bundleID, app) in apps {
                expected.append(
                    try ExpectedApp(
                        bundleID: bundleID, appAppleID: app.appAppleID, environments: app.environments,
                        isDevelopment: true))
            }
            return try ExpectedApps(expected)
        }
    }
}
