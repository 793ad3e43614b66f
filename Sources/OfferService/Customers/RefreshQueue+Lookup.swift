import AppStoreAPI
import OfferCore
import OfferEligibility
import SubscriberStore
import SubscriberSync

extension RefreshQueue {
    /// Refreshes a customer whom the store does not know, or whose data is older than the app's `freshness`. The total
    /// wait is limited.
    /// - Parameter stored: the stored data about the customer.
    func refresh(
        _ customer: CustomerReference, knownAs stored: [StoredCustomer], of app: Catalogue.App, at now: Timestamp
    ) async -> Outcome {
        guard stored.isEmpty else { return await refresh(stored.flatMap { $0.requests(in: app, at: now) }) }
        // An identifier from the App Store belongs to one environment.
        return await refresh(customer.requests(in: app)) { $0 == .answered(hasNews: true) }
    }
}

extension CustomerReference {
    /// Returns a request for each possible environment, production first; none for an account of the app, because the
    /// App Store cannot be queried about it.
    fileprivate func requests(in app: Catalogue.App) -> [RefreshRequest] {
        guard let id = identifier.transaction else { return [] }
        return [AppStoreEnvironment.production, .sandbox].filter { candidate in
            app.environments.contains(candidate) && environment.map { $0 == candidate } ?? true
        }.compactMap { RefreshRequest(id, in: AppScope(bundleID: bundleID, environment: $0)) }
    }
}

extension StoredCustomer {
    /// - Returns: requests for at most four subscriptions whose data is too old.
    fileprivate func requests(in configured: Catalogue.App, at now: Timestamp) -> [RefreshRequest] {
        staleSubscriptions(under: configured.freshness, at: now).prefix(4)
            .compactMap { RefreshRequest($0, in: app) }
    }
}

extension CustomerIdentifier {
    /// The identifier, if it is from the App Store; nil for an account of the app.
    fileprivate var transaction: TransactionID? {
        switch self {
        case .appTransactionID(let id), .originalTransactionID(let id), .transactionID(let id): id
        case .appAccountToken, .applicationUsername: nil
        }
    }
}
