package import OfferCore
import OfferEligibility

/// The body of `POST /v1/introductory-offers`: a customer, and a product with an introductory offer.
package struct IntroductoryOfferRequest: Hashable, Sendable {
    package let bundleID: BundleID
    package let productID: ProductID
    /// `true` grants the offer, `false` withholds it; nil leaves it to the app's rule.
    package let allowIntroductoryOffer: Bool?
    package let transactionID: TransactionID

    package init(_ members: JSONObject) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: ["bundleID", "productID", "allowIntroductoryOffer", "transactionID"])
            bundleID = try reader.field("bundleID", BundleID.init)
            productID = try reader.field("productID", ProductID.init)
            allowIntroductoryOffer =
                members["allowIntroductoryOffer"] == nil ? nil : try reader.bool("allowIntroductoryOffer")
            transactionID = try reader.field("transactionID", TransactionID.init)
        } catch {
            throw Problem(error)
        }
    }

    func appStoreRequest(allowing isAllowed: Bool) -> AppStoreRequest {
        .introductoryOfferEligibility(productID, allowed: isAllowed, transactionID)
    }

    var item: CatalogueItem { CatalogueItem(app: bundleID, product: productID) }

    /// Returns the response body: the signed fields and the JWS.
    /// - Parameter proofs: the proofs to repeat in the answer.
    func body(_ jws: CompactJWS, allowing isAllowed: Bool, showing proofs: VerifiedProofs? = nil) -> [UInt8] {
        var writer = JSONWriter()
        writer.member("bundleID", utf8: bundleID.text.utf8)
        writer.member("productID", utf8: productID.text.utf8)
        writer.member("allowIntroductoryOffer", isAllowed)
        writer.member("transactionID", utf8: transactionID.text.utf8)
        writer.member("compactJWS", utf8: jws.text)
        proofs?.write(to: &writer)
        return writer.finish()
    }
}
