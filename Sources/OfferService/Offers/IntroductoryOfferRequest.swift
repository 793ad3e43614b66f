package import OfferCore

/// The body of `POST /v1/introductory-offers`: whether a customer gets the introductory offer of a product.
package struct IntroductoryOfferRequest: Hashable, Sendable {
    package let bundleID: BundleID
    package let productID: ProductID
    /// `true` grants the offer, `false` withholds it.
    package let allowIntroductoryOffer: Bool
    package let transactionID: TransactionID

    package init(_ members: JSONObject) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: ["bundleID", "productID", "allowIntroductoryOffer", "transactionID"])
            bundleID = try reader.field("bundleID", BundleID.init)
            productID = try reader.field("productID", ProductID.init)
            allowIntroductoryOffer = try reader.bool("allowIntroductoryOffer")
            transactionID = try reader.field("transactionID", TransactionID.init)
        } catch {
            throw Problem(error)
        }
    }

    var appStoreRequest: AppStoreRequest {
        .introductoryOfferEligibility(productID, allowed: allowIntroductoryOffer, transactionID)
    }

    /// Returns the response body: the signed fields and the JWS.
    package func body(_ jws: CompactJWS) -> [UInt8] {
        var writer = JSONWriter()
        writer.member("bundleID", utf8: bundleID.text.utf8)
        writer.member("productID", utf8: productID.text.utf8)
        writer.member("allowIntroductoryOffer", allowIntroductoryOffer)
        writer.member("transactionID", utf8: transactionID.text.utf8)
        writer.member("compactJWS", utf8: jws.text)
        return writer.finish()
    }
}
