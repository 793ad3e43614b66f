package import OfferCore
import OfferEligibility
import SubscriberStore

/// The storefronts of an app's customers, from a sample of its subscriptions in production.
package enum StorefrontSample {
    private static let pages = 20
    private static let pageSize: Int64 = 100

    /// - Returns: nil if the store has no purchase with a storefront, or cannot be read.
    package static func storefronts(of bundleID: BundleID, in store: CurrentStore) async -> Set<String>? {
        let app = AppScope(bundleID: bundleID, environment: .production)
        guard store.store != nil, let numbers = try? await store.subscriptionNumbers(in: app) else { return nil }
        var storefronts: Set<String> = []
        for start in starts(in: numbers) {
            let page = start...min(start + pageSize - 1, numbers.upperBound)
            for customer in (try? await store.customers(in: app, numbered: page)) ?? [] {
                for case .transaction(let purchase) in customer.customer.facts.map(\.value) {
                    if let storefront = purchase.storefront { storefronts.insert(storefront) }
                }
            }
        }
        return storefronts.isEmpty ? nil : storefronts
    }

    /// Returns the beginnings of pages that are spread evenly over the numbers, the newest included.
    static func starts(in numbers: ClosedRange<Int64>) -> [Int64] {
        let last = max(numbers.lowerBound, numbers.upperBound - pageSize + 1)
        let step = max(pageSize, (last - numbers.lowerBound) / Int64(pages - 1))
        return Array(stride(from: last, through: numbers.lowerBound, by: Int(-step)))
            + (last == numbers.lowerBound || (last - numbers.lowerBound).isMultiple(of: step)
                ? [] : [numbers.lowerBound])
    }
}
