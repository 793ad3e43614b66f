import OfferCore

/// The members that all notifications share, regardless of content: the identifier, the type, the signing date and the
/// app.
///
/// It is read if the content is of an unknown kind or has an unexpected value. Such a notification is stored, but
/// yields no facts.
struct NotificationEnvelope {
    let notificationUUID: FieldText
    let type: NotificationType
    let subtype: NotificationSubtype?
    let signedDate: Timestamp
    /// The origin, taken from the first object that names a bundle ID, or otherwise an Apple ID or an environment.
    let origin: PayloadOrigin

    init(_ payload: PayloadObject) throws(PayloadError) {
        let reader = PayloadReader(payload.members, Self.index)
        notificationUUID = try reader.required(.notificationUUID).field { utf8, name throws(FieldError) in
            try FieldText(utf8: utf8, field: name, sizes: 1...64)
        }
        type = try reader.required(.notificationType).open()
        subtype = try? reader[.subtype]?.open()
        signedDate = try reader.required(.signedDate).timestamp()
        let objects = payload.members.members.compactMap { member -> JSONObject? in
            if case .object(let members) = member.value { members } else { nil }
        }
        let origins = objects.map(Self.origin)
        let unnamed = PayloadOrigin(.notification, environment: nil)
        origin = origins.first { $0.bundleID != nil } ?? origins.first { $0 != unnamed } ?? unnamed
    }

    private enum Member: Int, PayloadMember {
        case notificationType, notificationUUID, signedDate, subtype
    }

    private enum AppMember: Int, PayloadMember {
        case appAppleId, bundleId, environment
    }

    private static let index = MemberIndex<Member>()
    private static let appIndex = MemberIndex<AppMember>()

    private static func origin(of members: JSONObject) -> PayloadOrigin {
        let reader = PayloadReader(members, appIndex)
        return PayloadOrigin(
            .notification, bundleID: (try? reader[.bundleId]?.field(BundleID.init)) ?? nil,
            appAppleID: (try? reader[.appAppleId]?.integer()) ?? nil,
            environment: (try? reader[.environment]?.open()) ?? nil)
    }
}
