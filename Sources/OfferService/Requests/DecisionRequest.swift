package import OfferCore
package import OfferEligibility

/// The body of `POST /v1/decisions`, without the proofs.
package struct DecisionRequest {
    /// The eligible offers to sign.
    package enum Signing: Hashable {
        /// Only the best offer.
        case best
        case all
        case none
    }

    package let bundleID: BundleID
    package let customer: Customer
    package let transactionID: TransactionID?
    package let environment: AppStoreEnvironment?
    /// The place in the app where an offer is to appear.
    package let placement: FieldText?
    /// The link that the customer opened.
    package let link: FieldText?
    /// nil for all products.
    package let productIDs: Set<ProductID>?
    package let signing: Signing

    /// The permitted number of products.
    package static let counts = 1...50

    private static let names: Set<String> = [
        "bundleID", "applicationUsername", "appAccountToken", "transactionID", "environment", "placement", "link",
        "productIDs", "sign",
    ]

    /// - Parameter user: the signed-in user, who is the only permitted customer and need not be named; nil to permit
    ///   any customer.
    package init(_ members: JSONObject, user: Customer?) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: Self.names)
            bundleID = try reader.field("bundleID", BundleID.init)
            customer = if let user, !reader.namesCustomer { user } else { try reader.customer() }
            transactionID = try reader.optionalField("transactionID", TransactionID.init)
            environment = try reader.environment()
            placement = try reader.placement()
            link = try reader.link()
        } catch { throw Problem(error) }
        if let user, customer != user { throw .customerNotYours }
        productIDs = try Self.productIDs(members["productIDs"])
        signing = try Self.signing(members["sign"])
    }

    private static func productIDs(_ value: JSONValue?) throws(Problem) -> Set<ProductID>? {
        guard let value else { return nil }
        guard case .array(let items) = value else {
            throw .wrongType(field: "productIDs", expected: "an array", found: value.kind)
        }
        guard counts.contains(items.count) else {
            throw .invalidField(FieldError(field: "productIDs", reason: .wrongCount(counts)))
        }
        var ids: Set<ProductID> = []
        for (index, item) in items.enumerated() {
            let name = "productIDs[\(index)]"
            guard case .string(let utf8) = item else {
                throw .wrongType(field: name, expected: "a string", found: item.kind)
            }
            do { ids.insert(try ProductID(utf8: utf8, field: name)) } catch { throw .invalidField(error) }
        }
        return ids
    }

    private static func signing(_ value: JSONValue?) throws(Problem) -> Signing {
        switch value {
        case nil, .string(Array("best".utf8)): return .best
        case .bool(true): return .all
        case .bool(false): return .none
        case .string: throw .invalidField(FieldError(field: "sign", reason: .notOneOf(["best", "true", "false"])))
        case .some(let other):
            throw .wrongType(field: "sign", expected: "\"best\", true or false", found: other.kind)
        }
    }
}
