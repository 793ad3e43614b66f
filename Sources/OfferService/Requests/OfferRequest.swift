package import OfferCore
package import OfferEligibility

/// A request to sign one promotional offer: the fields to sign, except those that the server adds.
package struct OfferRequest: Hashable, Sendable {
    /// The field names that a request uses.
    package enum Spelling: Sendable {
        /// The names in Apple's sample. Unknown members are ignored, as in the sample.
        case sample
        /// The names in `/v1`. Unknown members are refused, because a misspelt option would otherwise go unnoticed.
        case v1
        /// The names in `offer-signer sign`: the names in the sample, and `transactionID` from `/v1`.
        case command
    }

    package let appBundleID: BundleID
    package let productIdentifier: ProductID
    package let offerID: OfferID
    package let customer: Customer
    /// The transaction that the JWS is bound to; nil if it is unbound.
    package let transactionID: TransactionID?
    /// The environment, needed for a customer who is known in both environments; nil if the request names none.
    package let environment: AppStoreEnvironment?
    /// The place in the app where the offer is to appear. Apple's sample has none.
    package let placement: FieldText?
    /// The link that the customer opened. Apple's sample has none.
    package let link: FieldText?
    /// True if a JWS accompanies the signature. Apple's sample has none.
    package let wantsJWS: Bool

    /// - Parameters:
    ///   - members: the members of the request's JSON object, or of its query.
    ///   - user: the signed-in user, who is the only permitted customer and need not be named; nil to permit any
    ///     customer.
    package init(_ members: JSONObject, spelling: Spelling, user: Customer? = nil) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            switch spelling {
            case .sample, .command:
                try reader.refuseReserved(makesJWS: spelling == .command)
                appBundleID = try reader.field("appBundleID", BundleID.init)
                productIdentifier = try reader.field("productIdentifier", or: "productID", ProductID.init)
            case .v1:
                try reader.refuseOthers(than: Self.namesInV1)
                appBundleID = try reader.field("bundleID", BundleID.init)
                productIdentifier = try reader.field("productID", ProductID.init)
            }
            wantsJWS = spelling != .sample
            transactionID = wantsJWS ? try reader.optionalField("transactionID", TransactionID.init) : nil
            environment = spelling == .command ? nil : try reader.environment()
            placement = spelling == .v1 ? try reader.placement() : nil
            link = spelling == .v1 ? try reader.link() : nil
            offerID = try reader.field("offerID", OfferID.init)
            customer = if let user, !reader.namesCustomer { user } else { try reader.customer() }
        } catch {
            throw Problem(error)
        }
        if let user, customer != user { throw .customerNotYours }
    }

    /// The item that the catalogue must contain.
    var item: CatalogueItem { CatalogueItem(app: appBundleID, product: productIdentifier, offer: offerID) }

    private static let namesInV1: Set<String> = [
        "bundleID", "productID", "offerID", "applicationUsername", "appAccountToken", "transactionID",
        "environment", "placement", "link",
    ]
}
