package import OfferCore
package import OfferEligibility

/// The App Store's request for a retention message, which a server must answer within 700 ms.
///
/// The request names the app only by its Apple ID. Apple always sends all members.
package struct RetentionRequest: SignedPayload {
    package static let kind = PayloadKind.retentionRequest

    package let originalTransactionID: TransactionID
    package let appAppleID: Int64
    /// The current product.
    package let productID: ProductID
    /// The customer's language and region, such as `en-US`.
    package let userLocale: String
    package let requestIdentifier: UUIDText
    package let environment: AppStoreEnvironment
    package let signedDate: Timestamp
    /// The JSON as signed.
    package let json: [UInt8]

    enum Member: Int, PayloadMember {
        case appAppleId, environment, originalTransactionId, productId, requestIdentifier, signedDate, userLocale
    }

    private static let index = MemberIndex<Member>()

    package init(_ payload: PayloadObject) throws(PayloadError) {
        try Self.kind.require(of: payload.members)
        let reader = PayloadReader(payload.members, Self.index)
        originalTransactionID = try reader.required(.originalTransactionId).field(TransactionID.init)
        appAppleID = try reader.required(.appAppleId).integer()
        productID = try reader.required(.productId).field(ProductID.init)
        userLocale = try reader.required(.userLocale).text()
        requestIdentifier = try reader.required(.requestIdentifier).uuid()
        environment = try reader.required(.environment).open()
        signedDate = try reader.required(.signedDate).timestamp()
        json = payload.json
    }
}
