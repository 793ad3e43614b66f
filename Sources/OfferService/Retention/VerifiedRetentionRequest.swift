import AppStoreData
import OfferConfiguration
import OfferCore
import OfferEligibility
import SubscriberSync

/// A verified request for a retention message of a configured app.
struct VerifiedRetentionRequest: Sendable {
    let app: AppScope
    let configured: Catalogue.App
    let originalTransactionID: TransactionID
    let requestIdentifier: UUIDText
    let view: RetentionView

    /// The key of the request, which is the same for each repetition.
    var key: RetentionAnswers.Key { RetentionAnswers.Key(app: app, requestIdentifier: requestIdentifier) }
}

/// The verifier of requests for retention messages, which does not wait for OCSP responders.
struct RetentionRequestReader: Sendable {
    private let trust: AppStoreTrust
    private let apps: ConfiguredApps
    private let now: @Sendable () -> Timestamp

    /// The maximum age of a request. The App Store waits less than a second for an answer, so an older request is a
    /// replay.
    private static let maximumAge = Duration.seconds(300)

    init(trust: AppStoreTrust, apps: ConfiguredApps, now: @escaping @Sendable () -> Timestamp) {
        self.trust = trust
        self.apps = apps
        self.now = now
    }

    /// - Parameter text: a compact JWS.
    /// - Throws: a refusal, if Apple did not sign the request, if its date is not recent, or if its app or environment
    ///   is not configured.
    func read(_ text: [UInt8], under policy: Policy) throws(DataRefusal) -> VerifiedRetentionRequest {
        do throws(DataRefusal) {
            let verified = try verified(text, under: policy)
            trust.noteVerified(RetentionRequest.kind.rawValue)
            return verified
        } catch {
            trust.noteRefused(RetentionRequest.kind.rawValue, error)
            throw error
        }
    }

    private func verified(_ text: [UInt8], under policy: Policy) throws(DataRefusal) -> VerifiedRetentionRequest {
        let now = now()
        let data: VerifiedData<RetentionRequest> = try trust.verify(
            text, at: .ofSigning(otherwise: now.milliseconds / 1000))
        let request = data.payload
        guard SigningTime.isPlausible(request.signedDate, at: now) else {
            throw DataRefusal(VerificationFailure(.signedInFuture))
        }
        guard now < request.signedDate + Self.maximumAge else {
            throw DataRefusal(VerificationFailure(.signedTooLongAgo))
        }
        let apps = try apps.expected(under: policy)
        let expected: ExpectedApp
        do { expected = try apps.check(request.origin) } catch { throw DataRefusal(error) }
        // The request names an app by its Apple ID, so an app without one cannot be meant.
        guard let app = policy.catalogue?.apps[expected.bundleID], app.appAppleID == request.appAppleID else {
            throw DataRefusal(CheckFailure.anotherAppAppleID)
        }
        return VerifiedRetentionRequest(
            app: AppScope(bundleID: expected.bundleID, environment: request.environment), configured: app,
            originalTransactionID: request.originalTransactionID, requestIdentifier: request.requestIdentifier,
            view: RetentionView(
                productID: request.productID, locale: RetentionLocale(request.userLocale),
                environment: request.environment))
    }
}
