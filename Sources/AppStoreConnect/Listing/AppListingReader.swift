package import OfferCore
package import OfferEligibility

/// Reads what App Store Connect has about an app's subscriptions.
///
/// The number of requests is about one for each product, one for each offer with a price, and one for ten products of a
/// group.
package struct AppListingReader: Sendable {
    /// The products and offers whose prices are wanted.
    package enum Wanted: Sendable {
        case all
        case only([ProductID: Set<OfferID>])

        /// The offers that the product is expected to have.
        fileprivate func offers(of productID: ProductID) -> Set<OfferID> {
            if case .only(let products) = self { products[productID] ?? [] } else { [] }
        }
    }

    private struct ReadProduct {
        let resourceID: String
        var listing: ProductListing
        /// The resource IDs of the offers, in their order.
        var offerResourceIDs: [String] = []

        /// Adds the offers that are not known yet.
        /// - Returns: the number of unreadable ones.
        mutating func add(_ offers: [JSONAPIResource]) -> Int {
            var unreadableCount = 0
            for offer in offers where !offerResourceIDs.contains(offer.id) {
                guard let read = OfferListing(offer) else {
                    unreadableCount += 1
                    continue
                }
                listing.offers.append(read)
                offerResourceIDs.append(offer.id)
            }
            return unreadableCount
        }
    }

    private let client: AppStoreConnectClient
    private let now: @Sendable () -> Timestamp

    /// The number of products on a page. Each brings its offers and its names in all languages.
    private static let productsOnPage = "10"
    /// The greatest number of related resources that App Store Connect includes for each product.
    private static let related = "50"
    private static let large = "200"
    /// The number of products whose retention message is read.
    private static let maximumRetentionProducts = 20

    package init(client: AppStoreConnectClient, now: @escaping @Sendable () -> Timestamp) {
        self.client = client
        self.now = now
    }

    /// - Parameter wantsRetention: true to read the retention messages of App Store Connect too.
    /// - Throws: the first failure. A part that disappears while it is read only counts as unreadable.
    package func read(
        _ bundleID: BundleID, _ wanted: Wanted, wantsRetention: Bool = false
    ) async throws(AppStoreConnectFailure) -> AppListing {
        let began = now()
        let app = try await app(bundleID)
        guard let appAppleID = Int64(app.id) else { throw .unreadable("the app's ID is not a number") }
        let groups = try await client.pages(
            AppStoreConnectRequest(["apps", app.id, "subscriptionGroups"], ["limit": Self.large]))
        let groupResources = groups.flatMap(\.resources).filter { $0.identifier.type == "subscriptionGroups" }
        var unreadableCount = groups.unreadableCount + groups.flatMap(\.resources).count - groupResources.count
        var products: [ReadProduct] = []
        for group in groupResources {
            let pages = try await productPages(of: group.id)
            unreadableCount += pages.unreadableCount
            for page in pages {
                for resource in page.resources {
                    guard let listing = ProductListing(resource, in: group.id, of: app, page) else {
                        unreadableCount += 1
                        continue
                    }
                    var product = ReadProduct(resourceID: resource.id, listing: listing)
                    unreadableCount += try await addOffers(
                        to: &product, from: resource, page, expected: wanted.offers(of: listing.productID))
                    products.append(product)
                }
            }
        }
        let isComplete = unreadableCount == 0
        for index in products.indices {
            unreadableCount += try await addPrices(to: &products[index], wanted)
        }
        if wantsRetention { await addRetentionMessages(to: &products) }
        return AppListing(
            appAppleID: appAppleID,
            groups: groupResources.map { AppListing.Group(id: $0.id, referenceName: $0.text("referenceName")) },
            products: products.map(\.listing), notifications: Self.notifications(of: app), readAt: began,
            unreadableCount: unreadableCount, isComplete: isComplete)
    }

    // MARK: Apps and products

    /// The filter may match longer bundle IDs too.
    private func app(_ bundleID: BundleID) async throws(AppStoreConnectFailure) -> JSONAPIResource {
        let name = bundleID.text.description
        let pages = try await client.pages(
            AppStoreConnectRequest(["apps"], ["filter[bundleId]": name, "limit": Self.large]))
        let app = pages.flatMap(\.resources).first { $0.text("bundleId")?.lowercased() == name.lowercased() }
        guard let app else { throw .unknownApp(bundleID) }
        return app
    }

    private func productPages(of group: String) async throws(AppStoreConnectFailure) -> [JSONAPIDocument] {
        try await client.pages(
            AppStoreConnectRequest(
                ["subscriptionGroups", group, "subscriptions"],
                [
                    "include": "subscriptionLocalizations,promotionalOffers,winBackOffers,introductoryOffers",
                    "limit": Self.productsOnPage, "limit[subscriptionLocalizations]": Self.related,
                    "limit[promotionalOffers]": Self.related, "limit[winBackOffers]": Self.related,
                    "limit[introductoryOffers]": Self.related,
                ]))
    }

    private static func notifications(
        of app: JSONAPIResource
    ) -> [AppStoreEnvironment: AppListing.NotificationTarget] {
        var targets: [AppStoreEnvironment: AppListing.NotificationTarget] = [:]
        for (environment, suffix) in [(AppStoreEnvironment.production, ""), (.sandbox, "ForSandbox")] {
            let (url, version) = ("subscriptionStatusUrl\(suffix)", "subscriptionStatusUrlVersion\(suffix)")
            // A sparse answer that names neither says nothing.
            guard app.has(url) else { continue }
            targets[environment] = AppListing.NotificationTarget(url: app.text(url), version: app.text(version))
        }
        return targets
    }

    // MARK: Offers

    /// Much follows from the absence of an expected offer. So if the page lacks one, the list of the product's offers must
    /// lack it too.
    /// - Returns: the number of unreadable entries.
    private func addOffers(
        to product: inout ReadProduct, from resource: JSONAPIResource, _ page: JSONAPIDocument, expected: Set<OfferID>
    ) async throws(AppStoreConnectFailure) -> Int {
        let included = page.related("promotionalOffers", of: resource)
        var unreadableCount = product.add(included.resources)
        if !included.isComplete || !expected.isSubset(of: product.listing.offers.map(\.offerID)) {
            let path = ["subscriptions", resource.id, "promotionalOffers"]
            if let pages = try await existing(AppStoreConnectRequest(path, ["limit": Self.related])) {
                unreadableCount = pages.unreadableCount + product.add(pages.flatMap(\.resources))
            } else {
                unreadableCount += 1
            }
        }
        product.listing.hasAllOffers = unreadableCount == 0
        let winBack = page.related("winBackOffers", of: resource)
        let path = ["subscriptions", resource.id, "winBackOffers"]
        let winBackOffers =
            winBack.isComplete
            ? winBack.resources
            : try await permitted(AppStoreConnectRequest(path, ["limit": Self.related]))?.flatMap(\.resources) ?? []
        product.listing.winBackOffers = winBackOffers.compactMap { $0.text("offerId") }
        let introductory = resource.relationships["introductoryOffers"]
        product.listing.introductoryOfferCount = introductory?.total ?? introductory?.identifiers?.count ?? 0
        return unreadableCount
    }

    /// - Returns: nil if the resource has disappeared meanwhile.
    private func existing(
        _ request: AppStoreConnectRequest
    ) async throws(AppStoreConnectFailure) -> [JSONAPIDocument]? {
        do throws(AppStoreConnectFailure) { return try await client.pages(request) } catch {
            guard case .notFound = error else { throw error }
            return nil
        }
    }

    /// Reads a list without which the rest is still useful.
    /// - Returns: nil if it does not exist, or if the role of the key does not permit it.
    private func permitted(
        _ request: AppStoreConnectRequest
    ) async throws(AppStoreConnectFailure) -> [JSONAPIDocument]? {
        do throws(AppStoreConnectFailure) { return try await existing(request) } catch {
            guard case .forbidden = error else { throw error }
            return nil
        }
    }

    // MARK: Prices

    /// - Returns: the number of unreadable entries.
    private func addPrices(
        to product: inout ReadProduct, _ wanted: Wanted
    ) async throws(AppStoreConnectFailure) -> Int {
        let offerIDs: Set<OfferID>
        switch wanted {
        case .all: offerIDs = Set(product.listing.offers.map(\.offerID))
        case .only(let products):
            guard let ids = products[product.listing.productID] else { return 0 }
            offerIDs = ids
        }
        var unreadableCount = 0
        if let prices = try await prices(["subscriptions", product.resourceID, "prices"]) {
            product.listing.prices = prices.current(at: now())
            unreadableCount += prices.unreadableCount
        }
        for (index, id) in product.offerResourceIDs.enumerated() {
            let offer = product.listing.offers[index]
            guard offerIDs.contains(offer.offerID), offer.mode != .freeTrial else { continue }
            guard let prices = try await prices(["subscriptionPromotionalOffers", id, "prices"]) else { continue }
            unreadableCount += prices.unreadableCount
            // A territory whose price cannot be read would seem to have none.
            if prices.unreadableCount == 0 { product.listing.offers[index].prices = prices.all }
        }
        let wantedOffers = product.listing.offers.filter { offerIDs.contains($0.offerID) }
        if wantedOffers.contains(where: { $0.billingPlan == .monthly }) { try await addPlans(to: &product) }
        return unreadableCount
    }

    /// Adds the billing plans with which a product is sold. They matter only for offers of another plan than the usual one.
    private func addPlans(to product: inout ReadProduct) async throws(AppStoreConnectFailure) {
        let path = ["subscriptions", product.resourceID, "planAvailabilities"]
        guard let pages = try await permitted(AppStoreConnectRequest(path, ["limit": Self.related])),
            pages.unreadableCount == 0
        else { return }
        let plans = pages.flatMap(\.resources).map { BillingPlanType(listed: $0.text("planType")) }
        // Nothing is concluded from an empty list, or one with a plan that is not known.
        guard !plans.isEmpty, !plans.contains(nil) else { return }
        product.listing.plans = Set(plans.compactMap(\.self))
    }

    /// - Returns: nil if the resource has disappeared meanwhile.
    private func prices(_ path: [String]) async throws(AppStoreConnectFailure) -> ListedPrices? {
        try await existing(
            AppStoreConnectRequest(path, ["include": "territory,subscriptionPricePoint", "limit": Self.large])
        ).map(ListedPrices.init)
    }

    // MARK: Retention messages

    /// Adds the retention messages of products, which App Store Connect has since version 4.6 of its API. Another failure
    /// than a missing message ends the reading of messages, because it says nothing about the other data.
    private func addRetentionMessages(to products: inout [ReadProduct]) async {
        for index in products.indices.prefix(Self.maximumRetentionProducts) {
            let request = AppStoreConnectRequest(
                ["subscriptions", products[index].resourceID, "relationships", "retentionMessage"])
            do throws(AppStoreConnectFailure) {
                products[index].listing.retentionMessageID = try await client.page(request).resources.first?.id
            } catch {
                guard case .notFound = error else { return }
            }
        }
    }
}
