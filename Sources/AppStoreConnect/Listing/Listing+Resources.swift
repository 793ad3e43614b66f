import OfferCore
import OfferEligibility

extension ProductListing {
    /// - Returns: nil for a resource that is not a subscription with a product ID.
    init?(_ resource: JSONAPIResource, in group: String, of app: JSONAPIResource, _ page: JSONAPIDocument) {
        guard resource.identifier.type == "subscriptions", let text = resource.text("productId"),
            let productID = try? ProductID(utf8: Array(text.utf8))
        else { return nil }
        self.init(productID: productID, groupID: group)
        state = resource.text("state").map(State.init)
        // Apple's levels are small. Ranks are computed from them, which must not overflow.
        level = resource.integer("groupLevel").flatMap { (1...10_000).contains($0) ? $0 : nil }
        period = resource.text("subscriptionPeriod").flatMap(ListedDuration.init)
        isFamilySharable = resource.flag("familySharable")
        let names = page.related("subscriptionLocalizations", of: resource).resources.compactMap { localization in
            localization.text("locale").flatMap { locale in localization.text("name").map { (locale: locale, name: $0) }
            }
        }.sorted { $0.locale < $1.locale }
        let wanted = [app.text("primaryLocale"), "en-US"]
        let named = wanted.lazy.compactMap { locale in names.first { $0.locale == locale } }.first
        displayName = (named ?? names.first)?.name ?? resource.text("name")
    }
}

extension OfferListing {
    /// - Returns: nil for a resource that is not a promotional offer with an identifier.
    init?(_ resource: JSONAPIResource) {
        guard resource.identifier.type == "subscriptionPromotionalOffers", let text = resource.text("offerCode"),
            let offerID = try? OfferID(utf8: Array(text.utf8))
        else { return nil }
        self.init(offerID: offerID)
        name = resource.text("name")
        mode = resource.text("offerMode").flatMap { OfferPrice.Mode(rawValue: $0.lowercased()) }
        duration = resource.text("duration").flatMap(ListedDuration.init)
        numberOfPeriods = resource.integer("numberOfPeriods")
        billingPlan = BillingPlanType(listed: resource.text("targetSubscriptionPlanType"))
    }
}
