package import OfferCore

/// The offer that a caller asks a signature for: what is signed, less what the server adds.
package struct OfferRequest: Hashable, Sendable {
    /// The names that a route gives the fields.
    package enum Spelling: Sendable {
        /// Apple's sample, and the programs written against it. Members it does not know are passed over, as there.
        case sample
        /// `/v1`. Members it does not know are refused: a misspelt option would otherwise go unnoticed.
        case v1
    }

    package let appBundleID: BundleID
    package let productIdentifier: ProductID
    package let offerID: OfferID
    package let customer: Customer

    /// - Parameters:
    ///   - members: the members of the request's JSON object, or of its query.
    ///   - user: the only customer to sign for, whom the request then need not name; nil for any.
    package init(_ members: JSONObject, spelling: Spelling, user: Customer? = nil) throws(Problem) {
        let reader = MemberReader(members)
        try reader.refuseReserved()
        switch spelling {
        case .sample:
            appBundleID = try reader.field("appBundleID", BundleID.init)
            productIdentifier = try reader.field("productIdentifier", or: "productID", ProductID.init)
        case .v1:
            try reader.refuseOthers(than: Self.namesInV1)
            appBundleID = try reader.field("bundleID", BundleID.init)
            productIdentifier = try reader.field("productID", ProductID.init)
            // Belongs to the JWS form; here it only has to be what it will have to be there.
            _ = try reader.optionalField("transactionID") { utf8, field throws(FieldError) in
                try FieldText(utf8: utf8, field: field, sizes: 1...64)
            }
        }
        offerID = try reader.field("offerID", OfferID.init)
        customer = try Self.customer(in: reader, user: user)
    }

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
