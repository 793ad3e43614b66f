import OfferCore
import OfferEligibility

/// The prices on the pages of a price list.
struct ListedPrices {
    private struct Entry {
        let territory: String
        let price: ListedPrice
        /// `2026-11-01`; empty for a price without a beginning.
        let startDate: String
        let isPreserved: Bool
        let plan: BillingPlanType
    }

    private let entries: [Entry]
    /// The territories of entries that could not be read. Another entry of such a territory may be outdated.
    private let unreadableTerritories: Set<String>
    /// The number of entries that could not be read.
    let unreadableCount: Int

    init(_ pages: [JSONAPIDocument]) {
        var (entries, unreadable): ([Entry], [JSONAPIResource]) = ([], [])
        for page in pages {
            for resource in page.resources {
                if let entry = Self.entry(resource, page) { entries.append(entry) } else { unreadable.append(resource) }
            }
        }
        self.entries = entries
        unreadableTerritories = Set(unreadable.compactMap { $0.relatedID("territory") })
        unreadableCount = pages.unreadableCount + unreadable.count
    }

    private static func entry(_ resource: JSONAPIResource, _ page: JSONAPIDocument) -> Entry? {
        guard let point = page.related("subscriptionPricePoint", of: resource).resources.first,
            let territory = resource.relatedID("territory") ?? point.relatedID("territory"),
            let amount = point.text("customerPrice"),
            let price = ListedPrice(
                amount: amount,
                currency: page.related("territory", of: resource).resources.first?.text("currency"))
        else { return nil }
        return Entry(
            territory: territory, price: price, startDate: resource.text("startDate") ?? "",
            isPreserved: resource.flag("preserved") ?? false,
            plan: BillingPlanType(listed: resource.text("planType")) ?? .billedUpFront)
    }

    /// The prices by territory, for an offer, which has one in each.
    var all: [String: ListedPrice] {
        Dictionary(entries.map { ($0.territory, $0.price) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the prices that new customers pay, by billing plan and territory.
    ///
    /// A list also has future prices, and earlier ones that are preserved for existing subscribers. If entries that begin
    /// on the same day disagree, or an entry of the territory could not be read, the price is unknown.
    func current(at now: Timestamp) -> [BillingPlanType: [String: ListedPrice]] {
        let today = String(decoding: now.iso8601.prefix(10), as: UTF8.self)
        var prices: [BillingPlanType: [String: ListedPrice]] = [:]
        let begun = entries.filter { $0.startDate <= today && !unreadableTerritories.contains($0.territory) }
        let groups = Dictionary(grouping: begun) { [$0.plan.rawValue, $0.territory] }
        for entries in groups.values {
            let unpreserved = entries.filter { !$0.isPreserved }
            let candidates = unpreserved.isEmpty ? entries : unpreserved
            guard let start = candidates.map(\.startDate).max() else { continue }
            let newest = candidates.filter { $0.startDate == start }
            guard let entry = newest.first, newest.allSatisfy({ $0.price.value == entry.price.value }) else { continue }
            prices[entry.plan, default: [:]][entry.territory] = entry.price
        }
        return prices
    }
}

extension BillingPlanType {
    /// - Parameter name: the name in App Store Connect, which differs from that in signed transactions.
    init?(listed name: String?) {
        switch name {
        case "UPFRONT": self = .billedUpFront
        case "MONTHLY": self = .monthly
        default: return nil
        }
    }
}
