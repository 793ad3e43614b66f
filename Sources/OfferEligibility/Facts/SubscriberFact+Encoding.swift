package import OfferCore

extension SubscriberFact {
    /// The value in a compact canonical form, for databases. Equal values have equal bytes.
    package var encoded: [UInt8] {
        var writer = FactWriter()
        switch value {
        case .transaction(let purchase), .receiptTransaction(let purchase), .fetchedTransaction(let purchase):
            purchase.write(to: &writer)
        case .renewalInfo(let renewal), .fetchedRenewalInfo(let renewal), .firstAnnouncement(let renewal),
            .lastAnnouncement(let renewal):
            renewal.write(to: &writer)
        case .status(let status): writer.write(Self.onlyTag, status.rawValue)
        case .refundRequest(let request): writer.write(Self.onlyTag, request.rawValue)
        case .expiryReason(let reason): writer.write(Self.onlyTag, reason.rawValue)
        case .renewalChange(let change): change.write(to: &writer)
        case .wholeHistory(let revision): writer.write(Self.onlyTag, revision)
        }
        return writer.bytes
    }

    /// Reads a stored fact. Unknown members are ignored.
    /// - Parameter encoded: the value of ``encoded`` when the fact was stored.
    package init(
        key: Key, originalTransactionID: TransactionID, signedDate: Timestamp, digest: [UInt8], encoded: [UInt8]
    ) throws(FactEncodingError) {
        self.key = key
        self.originalTransactionID = originalTransactionID
        self.signedDate = signedDate
        self.digest = digest
        value = try Self.value(key.kind, FactReader(encoded))
    }

    /// The tag of a value that is a single number or text.
    private static let onlyTag: UInt8 = 1

    private static func value(_ kind: Kind, _ reader: FactReader) throws(FactEncodingError) -> Value {
        switch kind {
        case .transaction: return .transaction(try Purchase(reader))
        case .receiptTransaction: return .receiptTransaction(try Purchase(reader))
        case .renewalInfo: return .renewalInfo(try Renewal(reader))
        case .fetchedTransaction: return .fetchedTransaction(try Purchase(reader))
        case .fetchedRenewalInfo: return .fetchedRenewalInfo(try Renewal(reader))
        case .wholeHistory: return .wholeHistory(try reader.required(onlyTag, reader.text(onlyTag)))
        case .firstAnnouncement: return .firstAnnouncement(try Renewal(reader))
        case .lastAnnouncement: return .lastAnnouncement(try Renewal(reader))
        case .renewalChange: return .renewalChange(try RenewalChange(reader))
        case .status:
            let number = try reader.required(onlyTag, reader.number(onlyTag))
            return .status(SubscriptionStatus(rawValue: number))
        case .refundRequest:
            let number = try reader.required(onlyTag, reader.number(onlyTag))
            guard let request = RefundRequest(rawValue: number) else { throw .invalid(tag: onlyTag) }
            return .refundRequest(request)
        case .expiryReason:
            return .expiryReason(ExpiryReason(rawValue: try reader.required(onlyTag, reader.text(onlyTag))))
        }
    }
}
