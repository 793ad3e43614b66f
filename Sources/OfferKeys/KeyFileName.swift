import OfferCore

/// The kind of file that a name indicates. App Store Connect defines the name formats.
enum KeyFileName: Equatable {
    /// `SubscriptionKey_<KEYID>.p8`, with an ID of ten capital letters and digits.
    case key(KeyID)
    /// `SubscriptionKey_….p8` with an invalid ID or in a different letter case.
    case noKeyID
    /// `AuthKey_….p8` (APNs, Sign in with Apple, App Store Connect API) or `ApiKey_….p8`: a key for another purpose.
    case otherKind
    /// The file is not a key file.
    case other

    static let suffix = ".p8"
    static let prefix = "SubscriptionKey_"

    init(_ name: String) {
        if name.hasPrefix(Self.prefix), name.hasSuffix(Self.suffix),
            let id = try? KeyID(
                utf8: Array(name.utf8.dropFirst(Self.prefix.utf8.count).dropLast(Self.suffix.utf8.count))),
            id.hasAppStoreConnectForm
        {
            self = .key(id)
            return
        }
        // A name in a different letter case is reported, not ignored, because it was meant to be a key file.
        let lowerCase = name.lowercased()
        if !lowerCase.hasSuffix(Self.suffix) {
            self = .other
        } else if lowerCase.hasPrefix(Self.prefix.lowercased()) {
            self = .noKeyID
        } else {
            self = ["authkey_", "apikey_"].contains(where: lowerCase.hasPrefix) ? .otherKind : .other
        }
    }

    static func name(of id: KeyID) -> String { "\(prefix)\(id)\(suffix)" }
}
