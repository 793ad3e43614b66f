package import OfferCore
package import OfferEligibility

/// What a person wants to grant, before anything is checked against the configuration and the customer.
package struct GrantOrder: Sendable {
    package let customer: CustomerReference
    package let productID: ProductID
    package let offerID: OfferID
    package let purpose: OfferGrant.Purpose
    /// nil for the lifetime that the app configures.
    package let expiresAt: Timestamp?
    /// True to replace `perCustomer` and `cooldown` too.
    package let liftsLimits: Bool

    package init(
        customer: CustomerReference, productID: ProductID, offerID: OfferID, purpose: OfferGrant.Purpose,
        expiresAt: Timestamp? = nil, liftsLimits: Bool = false
    ) {
        self.customer = customer
        self.productID = productID
        self.offerID = offerID
        self.purpose = purpose
        self.expiresAt = expiresAt
        self.liftsLimits = liftsLimits
    }

    /// Reads the body of `POST /v1/grants`.
    package init(_ members: JSONObject) throws(Problem) {
        customer = try CustomerReference(
            members, others: ["productID", "offerID", "reason", "note", "ticket", "expiresAt", "liftsLimits"])
        do throws(MemberError) {
            let reader = MemberReader(members)
            productID = try reader.field("productID") { utf8, name throws(FieldError) in
                try ProductID(utf8: utf8, field: name)
            }
            offerID = try reader.field("offerID") { utf8, _ throws(FieldError) in try OfferID(utf8: utf8) }
            purpose = OfferGrant.Purpose(
                reason: try reader.field("reason", Self.text(64)),
                note: try reader.optionalField("note", Self.text(OfferGrant.Purpose.maximumNoteSize)),
                ticket: try reader.optionalField("ticket", Self.text(OfferGrant.Purpose.maximumTicketSize)))
            liftsLimits = members["liftsLimits"] == nil ? false : try reader.bool("liftsLimits")
            expiresAt = try Self.time(members, "expiresAt")
        } catch { throw Problem(error) }
    }

    /// Returns the check of a text without control characters.
    private static func text(_ maximumSize: Int) -> MemberReader.Check<String> {
        { utf8, name throws(FieldError) in
            try FieldText(utf8: utf8, field: name, sizes: 1...maximumSize).description
        }
    }

    /// Reads a time in milliseconds since 1970.
    static func time(_ members: JSONObject, _ name: String) throws(MemberError) -> Timestamp? {
        guard let value = members[name] else { return nil }
        guard case .number(let digits) = value, let number = Int64(String(decoding: digits, as: UTF8.self)) else {
            throw .wrongType(name, expected: "a whole number of milliseconds since 1970", found: value.kind)
        }
        return Timestamp(milliseconds: number)
    }
}
