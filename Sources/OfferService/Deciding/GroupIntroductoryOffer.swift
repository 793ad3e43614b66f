import AppStoreData
import OfferCore
import OfferEligibility

/// A customer's eligibility for the introductory offers of a subscription group.
struct GroupIntroductoryOffer {
    let groupID: String
    let isEligible: Truth
}

extension [DecisionReason] {
    /// The decision about an introductory offer with these reasons to refuse it. One unknown fact makes it unknown.
    var introductoryOffer: Truth {
        isEmpty ? .yes : contains { $0.code == .unknown } ? .unknown : .no
    }
}

extension CustomerLoader {
    /// Decides by the app's rule which introductory offers a customer would get, one for each subscription group. Nothing is
    /// signed or stored.
    ///
    /// The App Store knows Apple Accounts, not accounts of the app. The decision is therefore that of
    /// `POST /v1/introductory-offers` for a transaction of the customer. It is unknown if no Apple Account is, if the account
    /// has several and no proof shows which one is meant, or if the account's own purchases say otherwise.
    /// - Parameters:
    ///   - known: the customer as already loaded.
    ///   - productIDs: the products whose groups to decide about; nil for all.
    /// - Returns: none if the app has no rule for introductory offers.
    func introductoryOffers(
        to known: EvaluatedCustomer, _ named: NamedCustomer, about productIDs: Set<ProductID>?,
        _ configured: Catalogue.App, at now: Timestamp
    ) async -> [GroupIntroductoryOffer] {
        guard let rule = configured.rules.introductoryOffers else { return [] }
        func decide(_ facts: CustomerFacts, _ product: ProductID) -> [DecisionReason] {
            configured.rules.introductoryReasons(facts, of: product, by: rule, at: now)
        }
        let wanted = configured.rules.products.groups.filter { productIDs?.contains($0.key) ?? true }
        // Rules see the group of a product, and nothing else of it.
        let products = Dictionary(wanted.map { ($0.value, $0.key) }) { first, _ in first }
        var buyer: CustomerFacts?
        if let id = named.introductoryTransaction(of: known) {
            let name = NamedCustomer.Name(
                bundleID: named.bundleID, identity: .boundTransaction(id), environment: known.app.environment)
            // Without an answer, the decision is unknown. The other offers do not depend on it.
            buyer = try? await load(
                NamedCustomer(name, proofs: named.proofs, unprovenRefresh: .always), configured, at: now
            ) { facts in products.values.contains { decide(facts, $0).contains(where: \.needsHistory) } }.facts
        }
        return products.sorted { $0.key < $1.key }.map { group, product in
            var isEligible = buyer.map { decide($0, product).introductoryOffer } ?? .unknown
            if isEligible == .yes, decide(known.facts, product).introductoryOffer == .no { isEligible = .unknown }
            return GroupIntroductoryOffer(groupID: group, isEligible: isEligible)
        }
    }
}

extension NamedCustomer {
    /// Returns the Apple Account of the device or, if no proof names it, a transaction of the customer.
    /// - Returns: nil if nothing shows with which Apple Account the customer would buy.
    fileprivate func introductoryTransaction(of known: EvaluatedCustomer) -> TransactionID? {
        if let id = proofs?.appTransaction?.payload.appTransactionID { return id }
        let isShown = proofs?.transactions.isEmpty == false
        return isShown || known.facts.state.appleAccounts.count <= 1 ? known.transactionID : nil
    }
}
