import OfferCore
import OfferCrypto
import OfferHTTP

/// The hash that replaces usernames in the requests of a caller with `hashUsernames`.
///
/// It is the SHA-256 hash of the username's UTF-8 bytes as sent, in lowercase hexadecimal. The empty username stays
/// empty, because it names no customer. Usernames are hashed before anything else, so limits, look-ups, the ledger,
/// signatures and the audit trail contain only the hash.
enum UsernameHash {
    /// Replaces the `applicationUsername` of a request, and of each offer, event or customer in its list. An invalid username is not
    /// replaced, so that it is refused.
    static func replacing(in members: JSONObject) throws(OpenSSLError) -> JSONObject {
        try members.mapValues { member throws(OpenSSLError) in
            switch (String(decoding: member.name, as: UTF8.self), member.value) {
            case ("applicationUsername", .string(let utf8)):
                guard !utf8.isEmpty, (try? Customer(applicationUsername: utf8)) != nil else { return member.value }
                return .string(Array(Hexadecimal.text(of: try SHA256.hash(utf8)).utf8))
            case ("offers", .array(let items)), ("events", .array(let items)), ("customers", .array(let items)):
                var hashed: [JSONValue] = []
                for item in items {
                    guard case .object(let members) = item else {
                        hashed.append(item)
                        continue
                    }
                    hashed.append(.object(try replacing(in: members)))
                }
                return .array(hashed)
            default: return member.value
            }
        }
    }
}
