import OfferCore

/// The signed content of a receipt, split into attributes. Values are decoded only on request, because the creation
/// date is needed to verify the certificates first.
struct ReceiptPayload {
    enum Name: UInt64 {
        case type = 0
        case appAppleID = 1
        case bundleID = 2
        case appVersion = 3
        case opaqueValue = 4
        case deviceHash = 5
        case unexplainedDate = 8
        case ageRating = 10
        case creationDate = 12
        case originalPurchaseDate = 18
        case originalAppVersion = 19
        case expirationDate = 21
    }

    /// The attribute that occurs once for every purchase.
    static let purchase: UInt64 = 17

    private(set) var fields = ReceiptFields<Name>()
    private(set) var purchases: [ArraySlice<UInt8>] = []

    /// - Parameter content: the signed content of the receipt.
    init(_ content: [UInt8]) throws(ReceiptPayloadError) {
        var (fields, purchases) = (ReceiptFields<Name>(), [ArraySlice<UInt8>]())
        try ReceiptAttribute.readAll(content[...]) { attribute throws(ReceiptPayloadError) in
            if attribute.type == Self.purchase {
                guard purchases.count < AppReceipt.maximumPurchases else {
                    throw ReceiptPayloadError(.tooManyPurchases)
                }
                purchases.append(attribute.value)
            } else if let name = Name(rawValue: attribute.type) {
                try fields.add(name, attribute.value)
            }
        }
        (self.fields, self.purchases) = (fields, purchases)
    }

    func creationDate() throws(ReceiptPayloadError) -> Timestamp {
        try fields.required(.creationDate, fields.date(.creationDate))
    }
}

extension AppReceipt {
    /// - Parameter content: the signed content of a receipt. The caller verifies the signature.
    package init(content: [UInt8]) throws(ReceiptPayloadError) { try self.init(ReceiptPayload(content)) }

    init(_ payload: ReceiptPayload) throws(ReceiptPayloadError) {
        let fields = payload.fields
        type = try fields.required(.type, fields.field(.type, ReceiptType.read))
        bundleID = try fields.required(.bundleID, fields.field(.bundleID, BundleID.init))
        creationDate = try payload.creationDate()
        appAppleID = try fields.number(.appAppleID)
        appVersion = try fields.field(.appVersion, Self.readText)
        originalAppVersion = try fields.field(.originalAppVersion, Self.readText)
        expirationDate = try fields.date(.expirationDate)
        originalPurchaseDate = try fields.date(.originalPurchaseDate)
        unexplainedDate = try fields.date(.unexplainedDate)
        ageRating = try fields.field(.ageRating, Self.readText, as: .ia5String)
        deviceHash = try DeviceHash(fields)
        purchases = try Self.readPurchases(payload.purchases)
    }

    private static func readPurchases(
        _ values: [ArraySlice<UInt8>]
    ) throws(ReceiptPayloadError) -> [ReceiptPurchase] {
        var purchases: [ReceiptPurchase] = []
        purchases.reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            do { purchases.append(try ReceiptPurchase(value)) } catch { throw error.inPurchase(index) }
        }
        return purchases
    }

    private static func readText(_ utf8: [UInt8], _ name: String) throws(FieldError) -> FieldText {
        try FieldText(utf8: utf8, field: name, sizes: 1...255)
    }
}

extension ReceiptType {
    fileprivate static func read(_ utf8: [UInt8], _ name: String) throws(FieldError) -> ReceiptType {
        ReceiptType(rawValue: try FieldText(utf8: utf8, field: name, sizes: 1...64).description)
    }
}
