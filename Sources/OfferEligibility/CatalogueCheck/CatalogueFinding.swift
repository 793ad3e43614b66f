package import OfferCore

/// A difference between the configured catalogue and App Store Connect, or a fault that customers would meet.
package struct CatalogueFinding: Hashable, Sendable {
    /// The kind of finding. The raw values are names for programs, and never change.
    package enum Code: String, CaseIterable, Sendable {
        case otherAppAppleID = "other_app_apple_id"
        case incompleteListing = "incomplete_listing"
        case unknownProduct = "unknown_product"
        case unapprovedProduct = "unapproved_product"
        case removedProduct = "removed_product"
        case otherGroup = "other_group"
        case otherRanks = "other_ranks"
        case otherFamilySharing = "other_family_sharing"
        case otherListPrice = "other_list_price"
        case tooManyOffers = "too_many_offers"
        case unknownOffer = "unknown_offer"
        case otherMode = "other_mode"
        case otherPeriods = "other_periods"
        case otherOfferPrice = "other_offer_price"
        case otherBillingPlan = "other_billing_plan"
        case offerNotCheaper = "offer_not_cheaper"
        case offerPossiblyNotCheaper = "offer_possibly_not_cheaper"
        case noOfferPrice = "no_offer_price"
        case unusedOffer = "unused_offer"
        case retentionOutsideGroup = "retention_outside_group"
        case unknownRetentionProduct = "unknown_retention_product"
        case otherNotificationURL = "other_notification_url"
        case otherNotificationVersion = "other_notification_version"
    }

    package enum Severity: String, CaseIterable, Sendable {
        /// Customers would meet the fault, or decisions go wrong.
        case error
        /// The difference may be intended, or the comparison is uncertain.
        case warning
    }

    package let code: Code
    package let severity: Severity
    package let app: BundleID
    /// nil if the finding concerns the whole app.
    package let product: String?
    /// nil if the finding concerns the whole product.
    package let offer: String?
    /// The territories concerned, as sorted three-letter codes; empty if it concerns all or none.
    package let territories: [String]
    package let sentence: String
    package let hint: String

    package init(
        _ code: Code, severity: Severity = .error, app: BundleID, product: String? = nil, offer: String? = nil,
        territories: [String] = [], _ sentence: String, hint: String
    ) {
        self.code = code
        self.severity = severity
        self.app = app
        self.product = product
        self.offer = offer
        self.territories = territories
        self.sentence = sentence
        self.hint = hint
    }

    /// The app, the product and the offer, separated by spaces.
    package var subject: String { ([app.text.description, product, offer].compactMap(\.self)).joined(separator: " ") }

    /// The finding in the form of other problems.
    package var diagnostic: Diagnostic { Diagnostic("\(subject): \(sentence)", hint: hint) }

    /// A clause that lists the first territories of a finding, such as `in DEU, FRA and 12 other territories`.
    static func clause(of territories: [String]) -> String {
        let shown = 3
        guard territories.count > shown + 1 else { return "in \(territories.joined(separator: ", "))" }
        return
            "in \(territories.prefix(shown).joined(separator: ", ")) and \(territories.count - shown) other territories"
    }
}
