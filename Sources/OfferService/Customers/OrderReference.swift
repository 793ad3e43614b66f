package import AppStoreAPI
package import OfferCore

/// A request's reference to the customer of an order: the app, and the number on the receipt that Apple mailed.
package struct OrderReference: Sendable {
    let bundleID: BundleID
    let number: OrderNumber

    package init(bundleID: BundleID, number: OrderNumber) {
        self.bundleID = bundleID
        self.number = number
    }

    init(_ members: JSONObject) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: ["bundleID", "orderID"])
            bundleID = try reader.field("bundleID", BundleID.init)
            number = try reader.field("orderID") { utf8, name throws(FieldError) in
                let text = try FieldText(utf8: utf8, field: name, sizes: OrderNumber.sizes)
                guard let number = OrderNumber(text.description) else {
                    throw FieldError(field: name, reason: .notAlphanumeric)
                }
                return number
            }
        } catch { throw Problem(error) }
    }
}
