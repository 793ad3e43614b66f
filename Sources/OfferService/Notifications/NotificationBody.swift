import AppStoreData
import OfferCore
import OfferEligibility
import OfferHTTP

/// What the App Store posts: a signed notification of version 2, or a legacy one of version 1.
enum NotificationBody {
    /// A compact JWS, not yet verified.
    case signed([UInt8])
    /// The members of a notification of version 1, which nothing signs.
    case legacy(LegacyNotification)

    /// The largest accepted body, in bytes. Notifications of version 2 have about 20 kB; those of version 1 contain a receipt.
    static let maximumSize = 1024 * 1024

    init(_ request: HTTPRequest) throws(Problem) {
        try self.init(
            RequestMembers.read(
                request, maximumCount: LegacyNotification.Limit.count, maximumTotal: LegacyNotification.Limit.total))
    }

    /// - Parameter bytes: a body as received.
    init(bytes: [UInt8]) throws(Problem) {
        let value: JSONValue
        do {
            value = try JSONReader.read(
                bytes, maximumCount: LegacyNotification.Limit.count, maximumTotal: LegacyNotification.Limit.total)
        } catch { throw .unreadableJSON(error) }
        guard case .object(let members) = value else { throw .notAnObject }
        try self.init(members)
    }

    private init(_ members: JSONObject) throws(Problem) {
        // Apple adds members without notice, so unknown ones are ignored.
        switch members["signedPayload"] {
        case .string(let text)?: self = .signed(text)
        case let other?: throw .wrongType(field: "signedPayload", expected: "a string", found: other.kind)
        case nil:
            guard LegacyNotification.isLegacy(members) else { throw .missingField("signedPayload") }
            do { self = .legacy(try LegacyNotification(members)) } catch {
                throw .notificationRefused(DataRefusal(error))
            }
        }
    }
}

extension NotificationBody {
    /// Returns true if the sender must not learn the failed check. Nothing signs version 1, so an answer that differs for an app of
    /// another configuration would tell anyone which apps this service knows.
    func isRefusedWithoutReason(_ refusal: DataRefusal) -> Bool {
        switch self {
        case .signed: false
        case .legacy: refusal.isSharedSecret || refusal.code == CheckFailure.anotherBundleID.rawValue
        }
    }
}
