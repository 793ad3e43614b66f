package import OfferCore

/// The offer that a caller asks a signature for: what is signed, less what the server adds.
package struct OfferRequest: Hashable, Sendable {
    /// The names that a route gives the fields.
    package enum Spelling: Sendable {
        /// Apple's sample, and the programs written against it. Members it does not know are passed over, as there.
        case sample
        /// `/v1`. Members it does not know are refused: a misspelt option would otherwise go unnoticed.
        case v1
        /// `offer-signer sign`: as the sample, with the transaction of `/v1`.
        case command
    }

    package let appBundleID: BundleID
    package let productIdentifier: ProductID
    package let offerID: OfferID
    package let customer: Customer
    /// What the JWS is tied to; nil also where none is wanted.
    package let transactionID: TransactionID?
    /// Whether a JWS goes with the signature. Apple's sample knows none.
    package let wantsJWS: Bool

    /// - Parameters:
    ///   - members: the members of the request's JSON object, or of its query.
    ///   - user: the only customer to sign for, whom the request then need not name; nil for any.
    package init(_ members: JSONObject, spelling: Spelling, user: Customer? = nil) throws(Problem) {
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
        offerID = try reader.field("offerID", OfferID.init)
        customer = try Self.customer(in: reader, user: user)
    }

    /// What the catalogue has to have.
    var item: CatalogueItem { CatalogueItem(app: appBundleID, product: productIdentifier, offer: offerID) }

    private static func customer(in reader: MemberReader, user: Customer?) throws(Problem) -> Customer {
        guard let user else { return try reader.customer() }
        guard reader.namesCustomer else { return user }
        guard try reader.customer() == user else { throw .customerNotYours }
        return user
    }

    private static let namesInV1: Set<String> = [
        "bundleID", "productID", "offerID", "applicationUsername", "appAccountToken", "transactionID",
    ]
}
