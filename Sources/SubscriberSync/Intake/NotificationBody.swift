package import AppStoreData
import OfferConfiguration
package import OfferCore
import OfferEligibility

/// The body of a POST request from the App Store: a signed notification of version 2, or a legacy one of version 1.
package enum NotificationBody: Sendable {
    /// A compact JWS, which is not verified yet.
    case signed([UInt8])
    /// The members of a notification of version 1, which is unsigned.
    case legacy(LegacyNotification)

    /// The largest accepted body, in bytes. Notifications of version 2 have about 20 kB; those of version 1 contain a
    /// receipt.
    package static let maximumSize = 1024 * 1024

    /// The limits for the JSON in a body.
    package static let (maximumCount, maximumTotal) = (LegacyNotification.Limit.count, LegacyNotification.Limit.total)

    /// - Parameter bytes: a body as received.
    package init(bytes: [UInt8]) throws(NotificationBodyError) {
        try self.init(
            Self.members(in: bytes, maximumCount: Self.maximumCount, maximumTotal: Self.maximumTotal))
    }

    /// - Parameter members: the members of the JSON object.
    package init(_ members: JSONObject) throws(NotificationBodyError) {
        if let text = try Self.signedPayload(of: members) {
            self = .signed(text)
            return
        }
        guard LegacyNotification.isLegacy(members) else { throw .noPayload }
        do { self = .legacy(try LegacyNotification(members)) } catch { throw .refused(DataRefusal(error)) }
    }

    /// Reads a body that must be `{"signedPayload": JWS}`, such as a request for a retention message.
    /// - Returns: the compact JWS, not yet verified.
    package static func signedPayload(in bytes: [UInt8]) throws(NotificationBodyError) -> [UInt8] {
        let members = try members(
            in: bytes, maximumCount: JSONReader.Limit.count, maximumTotal: JSONReader.Limit.total)
        guard let text = try signedPayload(of: members) else { throw .noPayload }
        return text
    }

    private static func members(
        in bytes: [UInt8], maximumCount: Int, maximumTotal: Int
    ) throws(NotificationBodyError) -> JSONObject {
        let value: JSONValue
        do { value = try JSONReader.read(bytes, maximumCount: maximumCount, maximumTotal: maximumTotal) } catch {
            throw .json(error)
        }
        guard case .object(let members) = value else { throw .notAnObject }
        return members
    }

    /// Apple adds members without notice, so unknown ones are ignored.
    /// - Returns: nil if the member is missing.
    private static func signedPayload(of members: JSONObject) throws(NotificationBodyError) -> [UInt8]? {
        switch members["signedPayload"] {
        case .string(let text)?: return text
        case let other?: throw .payloadIsNoString(found: other.kind)
        case nil: return nil
        }
    }
}

/// The reason that a body is not a notification.
package enum NotificationBodyError: Error {
    case json(JSONError)
    case notAnObject
    /// `signedPayload` is not a string but another kind of value, such as `a number`.
    case payloadIsNoString(found: String)
    case noPayload
    /// A notification of version 1 that is not accepted.
    case refused(DataRefusal)
}

extension NotificationBody {
    /// Returns true if the sender must not learn which check failed. Notifications of version 1 are unsigned, so
    /// answers that differ by app would tell anyone which apps this service knows.
    package func isRefusedWithoutReason(_ refusal: DataRefusal) -> Bool {
        switch self {
        case .signed: false
        case .legacy: refusal.isSharedSecret || refusal.code == CheckFailure.anotherBundleID.rawValue
        }
    }
}
