package import OfferCore
package import OfferEligibility

/// The purchase or download of the app itself, as the App Store signed it.
package struct AppTransaction: SignedPayload {
    package static let kind = PayloadKind.appTransaction

    /// The environment. Apple calls it `receiptType` here.
    package let environment: AppStoreEnvironment
    package let bundleID: BundleID
    package let receiptCreationDate: Timestamp
    /// The app's Apple ID. Apple documents it only for production.
    package let appAppleID: Int64?
    package let applicationVersion: String?
    package let versionExternalIdentifier: Int64?
    package let originalPurchaseDate: Timestamp?
    package let originalApplicationVersion: String?
    package let originalPlatform: OriginalPlatform?
    package let preorderDate: Timestamp?
    package let appTransactionID: TransactionID?
    package let deviceVerification: String?
    package let deviceVerificationNonce: String?
    /// The JSON as signed.
    package let json: [UInt8]

    enum Member: Int, PayloadMember {
        case appAppleId, appTransactionId, applicationVersion, bundleId, deviceVerification, deviceVerificationNonce,
            originalApplicationVersion, originalPlatform, originalPurchaseDate, preorderDate, receiptCreationDate,
            receiptType, versionExternalIdentifier
    }

    private static let index = MemberIndex<Member>()

    package init(_ payload: PayloadObject) throws(PayloadError) {
        try Self.kind.require(of: payload.members)
        var reader = PayloadReader(payload.members, Self.index)
        environment = try reader.required(.receiptType).open()
        reader.acceptsFractions = environment == .xcode
        bundleID = try reader.required(.bundleId).field(BundleID.init)
        receiptCreationDate = try reader.required(.receiptCreationDate).timestamp()
        appAppleID = try reader[.appAppleId]?.integer()
        applicationVersion = try reader[.applicationVersion]?.text()
        versionExternalIdentifier = try reader[.versionExternalIdentifier]?.integer()
        originalPurchaseDate = try reader[.originalPurchaseDate]?.timestamp()
        originalApplicationVersion = try reader[.originalApplicationVersion]?.text()
        originalPlatform = try reader[.originalPlatform]?.open()
        preorderDate = try reader[.preorderDate]?.timestamp()
        appTransactionID = try reader[.appTransactionId]?.unlessEmpty?.field(TransactionID.init)
        deviceVerification = try reader[.deviceVerification]?.text()
        deviceVerificationNonce = try reader[.deviceVerificationNonce]?.text()
        json = payload.json
    }
}

/// The platform on which the customer first obtained the app.
package struct OriginalPlatform: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let iOS = Self(rawValue: "iOS")
    package static let macOS = Self(rawValue: "macOS")
    package static let tvOS = Self(rawValue: "tvOS")
    package static let visionOS = Self(rawValue: "visionOS")
}
