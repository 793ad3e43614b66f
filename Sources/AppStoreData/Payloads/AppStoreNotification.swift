package import OfferCore
import OfferEligibility

/// An App Store Server Notification, version 2. Apple calls it `responseBodyV2DecodedPayload`.
package struct AppStoreNotification: SignedPayload {
    package static let kind = PayloadKind.notification

    /// The subject of a notification. Apple sends exactly one of these objects.
    package enum Content: Hashable, Sendable {
        case data(NotificationData)
        case summary(RenewalExtensionSummary)
        case externalPurchaseToken(ExternalPurchaseToken)
        case appData(NotificationAppData)
        /// The notification has none of the objects that Apple had documented when this was written.
        case unknown
    }

    package let type: NotificationType
    /// The subtype. Its absence has a meaning too.
    package let subtype: NotificationSubtype?
    /// The identifier, which is the same in every delivery of a notification. It has 1 to 64 bytes.
    package let notificationUUID: FieldText
    package let version: String?
    package let signedDate: Timestamp
    package let content: Content
    /// The JSON as signed.
    package let json: [UInt8]

    enum Member: Int, PayloadMember {
        case appData, data, externalPurchaseToken, notificationType, notificationUUID, signedDate, subtype, summary,
            version
    }

    private static let index = MemberIndex<Member>()

    package init(_ payload: PayloadObject) throws(PayloadError) {
        try Self.kind.require(of: payload.members)
        let reader = PayloadReader(payload.members, Self.index)
        type = try reader.required(.notificationType).open()
        subtype = try reader[.subtype]?.open()
        notificationUUID = try reader.required(.notificationUUID).field { utf8, name throws(FieldError) in
            try FieldText(utf8: utf8, field: name, sizes: 1...64)
        }
        version = try reader[.version]?.text()
        signedDate = try reader.required(.signedDate).timestamp()
        content = try Content(reader)
        json = payload.json
    }
}

extension AppStoreNotification.Content {
    fileprivate init(_ reader: PayloadReader<AppStoreNotification.Member>) throws(PayloadError) {
        let members = [.data, .summary, .externalPurchaseToken, .appData] as [AppStoreNotification.Member]
        let values = members.compactMap { reader[$0] }
        guard values.count <= 1 else {
            throw PayloadError(.conflicting(with: values[1].name), member: values[0].name)
        }
        if let value = reader[.data] {
            self = .data(try NotificationData(value))
        } else if let value = reader[.summary] {
            self = .summary(try RenewalExtensionSummary(value))
        } else if let value = reader[.externalPurchaseToken] {
            self = .externalPurchaseToken(try ExternalPurchaseToken(value))
        } else if let value = reader[.appData] {
            self = .appData(try NotificationAppData(value))
        } else {
            self = .unknown
        }
    }
}
