package import AppStoreAPI
import NIOCore
import OfferConfiguration
import OfferCore
package import OfferCrypto
import OfferEligibility
package import SubscriberStore

/// Requests the current content of a receipt from the legacy receipt service, and merges the answer into the store.
///
/// It is used if the App Store Server API fails or does not know the customer, for apps with a `sharedSecret`.
package struct ReceiptFetch: Sendable {
    /// The reason that no answer reached the store.
    package enum Failure: Error {
        /// The app has no shared secret.
        case noSharedSecret
        case service(ReceiptServiceFailure)
        /// The receipt belongs to another app or environment.
        case anotherApp
        case unhashable(OpenSSLError)
        case store(StoreError)
    }

    let client: ReceiptServiceClient
    let store: CurrentStore
    let policy: @Sendable () -> Policy

    /// - Parameter receipt: the verified receipt, as CMS.
    /// - Returns: the facts, which are already durable.
    func refresh(
        _ receipt: [UInt8], of app: AppScope, by deadline: NIODeadline
    ) async throws(Failure) -> [SubscriberFact] {
        guard let configured = policy().catalogue?.apps[app.bundleID],
            let secret = configured.notifications.sharedSecret
        else { throw .noSharedSecret }
        let answer: ReceiptServiceAnswer
        do { answer = try await client.describe(receipt, sharedSecret: secret, by: deadline) } catch {
            throw .service(error)
        }
        guard answer.bundleID == app.bundleID, answer.environment == app.environment,
            app.environment != .production || answer.appAppleID == configured.appAppleID
        else { throw .anotherApp }
        let facts: [SubscriberFact]
        do { facts = try answer.facts } catch { throw .unhashable(error) }
        guard !facts.isEmpty else { return [] }
        do throws(StoreError) {
            try await store.merge(facts, in: app)
        } catch { throw .store(error) }
        return facts
    }
}

extension ReceiptFetch.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noSharedSecret: "the app has no sharedSecret"
        case .service(let failure): "\(failure)"
        case .anotherApp: "the receipt belongs to another app or environment"
        case .unhashable(let error): "\(error)"
        case .store(let error): error.diagnostic.error
        }
    }
}

extension ReceiptFetch.Failure {
    /// The failure as a problem for an operator; nil if there is nothing for an operator to do.
    var problem: Diagnostic? {
        switch self {
        case .service(let failure): failure.hint.map { Diagnostic("\(failure)", hint: $0) }
        case .store(let error): error.diagnostic
        case .noSharedSecret, .anotherApp, .unhashable: nil
        }
    }
}
