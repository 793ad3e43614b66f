import OfferCore
import OfferCrypto
import OfferKeys

/// The key for the App Store Connect API as the settings name it: a file, or its text.
struct AppStoreConnectKeyFile {
    let key: SigningKey
    /// The ID in the file's name; nil if the name has none.
    let keyID: KeyID?

    private static let prefix = "AuthKey_"
    private static let suffix = ".p8"

    /// - Parameter text: the text of the key; nil to read it from `path`.
    /// - Throws: a problem for the operator. It never contains a part of the key.
    init(path: String?, text: Secret?, allowsReadableByOthers: Bool) throws(Diagnostic) {
        let source = path ?? Settings.appStoreConnectKey.variable
        let bytes: SecretBytes
        if let path {
            do {
                bytes = try KeyFolder.readContents(path, allowsReadableByOthers: allowsReadableByOthers)
            } catch { throw error.problem }
        } else {
            bytes = SecretBytes(copying: Array((text?.reveal ?? "").utf8))
        }
        do { key = try SigningKey(text: bytes) } catch {
            throw Diagnostic(
                "\(source) is not a key for the App Store Connect API: \(error)",
                hint: "it must be the text of AuthKey_<KEYID>.p8 as downloaded from App Store Connect")
        }
        keyID = path.flatMap(Self.keyID)
    }

    private static func keyID(inName path: String) -> KeyID? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
        return try? KeyID(utf8: Array(name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)))
    }
}
