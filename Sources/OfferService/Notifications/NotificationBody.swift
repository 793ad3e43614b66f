import OfferCore
import OfferHTTP

/// What the App Store posts: a signed notification of version 2, or a legacy one of version 1.
enum NotificationBody {
    /// A compact JWS, not yet verified.
    case signed([UInt8])
    /// The members of a notification of version 1, which nothing signs.
    case legacy(JSONObject)

    /// The largest accepted body, in bytes. Notifications of version 2 have about 20 kB; those of version 1 contain a receipt.
    static let maximumSize = 1024 * 1024

    init(_ request: HTTPRequest) throws(Problem) {
        let members = try RequestMembers.read(request)
        // Apple adds members without notice, so unknown ones are ignored.
        switch members["signedPayload"] {
        case .string(let text)?: self = .signed(text)
        case let other?: throw .wrongType(field: "signedPayload", expected: "a string", found: other.kind)
        case nil:
            guard members["notification_type"] != nil else { throw .missingField("signedPayload") }
            self = .legacy(members)
        }
    }
}
