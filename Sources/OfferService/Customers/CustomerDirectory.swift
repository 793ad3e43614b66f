import AppStoreAPI
import OfferCore
package import OfferEligibility
package import SubscriberStore
import SubscriberSync

/// The look-up of customers, for `POST /v1/customers/lookup` and for the console.
package struct CustomerDirectory: Sendable {
    let store: CurrentStore
    /// nil if the App Store is not queried.
    let refresher: RefreshQueue?
    let now: @Sendable () -> Timestamp

    /// Finds a customer in each environment. A customer whom the store does not know, or whose data is old, is refreshed
    /// from the App Store first.
    package func find(_ customer: CustomerReference, of app: Catalogue.App) async throws(Problem) -> FoundCustomers {
        var stored = try await stored(customer)
        let outcome = await refresher?.refresh(customer, knownAs: stored, of: app, at: now()) ?? .notNeeded
        if outcome != .notNeeded { stored = try await self.stored(customer) }
        return FoundCustomers(
            customers: try await known(stored, as: customer.identifier, of: app),
            isAppStoreSilent: outcome == .unanswered)
    }

    /// True if the App Store can be asked for an order of the app.
    package func looksUpOrders(of app: Catalogue.App) -> Bool {
        refresher != nil && app.environments.contains(.production)
    }

    /// Finds the customer of an order, which only the App Store knows.
    /// - Returns: nothing for an order that the App Store does not know.
    package func find(_ order: OrderReference, of app: Catalogue.App) async throws(Problem) -> FoundCustomers {
        guard let refresher, looksUpOrders(of: app) else { throw .appStoreNotQueried }
        let purchase: TransactionID?
        do throws(SyncError) {
            let scope = AppScope(bundleID: order.bundleID, environment: .production)
            purchase = try await refresher.purchase(ofOrder: order.number, in: scope)
        } catch {
            if case .store(let error) = error { throw Problem(error) }
            guard error.isNotFound else { throw .appStoreUnavailable(error) }
            purchase = nil
        }
        guard let purchase else { return FoundCustomers(customers: [], isAppStoreSilent: false) }
        let customer = CustomerReference(
            bundleID: order.bundleID, identifier: .originalTransactionID(purchase), environment: .production)
        // The order may be old. Alone, it would pass for the present state.
        let outcome = await refresher.refresh(customer, knownAs: [], of: app, at: now())
        return FoundCustomers(
            customers: try await known(stored(customer), as: customer.identifier, of: app),
            isAppStoreSilent: outcome == .unanswered)
    }

    func stored(_ customer: CustomerReference) async throws(Problem) -> [StoredCustomer] {
        do throws(StoreError) {
            return try await store.customers(
                known: customer.identifier, bundleID: customer.bundleID, environment: customer.environment)
        } catch {
            throw Problem(error)
        }
    }

    private func known(
        _ stored: [StoredCustomer], as identifier: CustomerIdentifier, of app: Catalogue.App
    ) async throws(Problem) -> [KnownCustomer] {
        do throws(StoreError) {
            return try await KnownCustomer.all(stored, known: identifier, of: app, in: store)
        } catch { throw Problem(error) }
    }
}

/// The customers that a look-up found.
package struct FoundCustomers {
    package let customers: [KnownCustomer]
    /// True if the App Store should have been asked and did not answer in time. There may be more.
    package let isAppStoreSilent: Bool
}

extension LedgerRedemption {
    /// Returns true if this is the ledger's record of a redemption.
    package func isRecord(of redemption: Redemption) -> Bool {
        originalTransactionID == redemption.originalTransactionID && redemption.type == .promotional
            && productID == redemption.productID && offerID == redemption.offerID && at == redemption.at
    }
}

/// The stored data about a customer in one environment, with the entries of the ledger.
package struct KnownCustomer {
    package let owned: OwnedCustomer
    package let ledger: LedgerEntries

    /// - Parameters:
    ///   - stored: the stored data about the customer in each environment.
    ///   - identifier: the identifier in the request.
    /// - Returns: the customer in each environment where something belongs to them, by the environment's name.
    package static func all(
        _ stored: [StoredCustomer], known identifier: CustomerIdentifier, of app: Catalogue.App,
        in store: any SubscriberStore
    ) async throws(StoreError) -> [KnownCustomer] {
        let customers = stored.sorted { $0.app.environment.rawValue < $1.app.environment.rawValue }
            .compactMap { OwnedCustomer($0, known: identifier, by: app.ownership) }
        var known: [KnownCustomer] = []
        for customer in customers {
            let ledger = try await store.ledgerEntries(of: customer.holders, in: customer.app)
            known.append(KnownCustomer(owned: customer, ledger: ledger))
        }
        return known
    }
}
