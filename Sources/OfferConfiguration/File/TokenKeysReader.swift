import OfferCore
import OfferKeys
import OfferPKCS11

/// Reads the `keys` of the configuration file: the keys in PKCS#11 tokens.
enum TokenKeysReader {
    static func read(_ value: YAMLValue) -> [TokenKeySettings] {
        var keys: [TokenKeySettings] = []
        for item in value.list("keys", ifEmpty: ("keys is empty", "add a key, or remove keys")) {
            guard let key = readKey(item) else { continue }
            if keys.contains(where: { $0.id == key.id }) {
                item.report("key \(key.id) is listed twice", hint: "remove one")
            } else {
                keys.append(key)
            }
        }
        return keys
    }

    private static func readKey(_ value: YAMLValue) -> TokenKeySettings? {
        let members = value.members(
            "a key in a token", known: ["id", "uri", "module", "pinFile", "refusalFile", "sessions"],
            required: ["id", "uri", "module"])
        let id = members["id"]?.string(
            "this is not a key ID", hint: "copy the ten capital letters and digits from App Store Connect"
        ) { text in
            (try? KeyID(utf8: Array(text.utf8))).flatMap { $0.hasAppStoreConnectForm ? $0 : nil }
        }
        let uri = members["uri"].flatMap(readURI)
        let module = members["module"].flatMap { readPath($0, "module") }
        let sessions = members["sessions"].map { $0.number(in: 1...TokenPlace.maximumSessions) }
        let pinPath = members["pinFile"].map { readPath($0, "pinFile") }
        let refusalPath = members["refusalFile"].map { readPath($0, "refusalFile") }
        guard let id, let uri, let module, sessions.map({ $0 != nil }) ?? true, pinPath.map({ $0 != nil }) ?? true,
            refusalPath.map({ $0 != nil }) ?? true
        else {
            return nil
        }
        let pin = pinPath.flatMap { $0 }.map {
            PINFile(path: $0, allowsReadableByOthers: false, refusalFile: refusalPath ?? nil)
        }
        return TokenKeySettings(
            id: id, uri: uri,
            place: TokenPlace(
                module: module, token: uri.token, pin: pin, sessions: (sessions ?? nil) ?? TokenPlace.defaultSessions))
    }

    private static func readURI(_ value: YAMLValue) -> PKCS11URI? {
        guard let text = value.string() else { return nil }
        do { return try PKCS11URI(text) } catch { return value.refuse("\(error)", hint: error.hint) }
    }

    /// Reads an absolute path. A relative one would depend on the folder in which the service starts.
    private static func readPath(_ value: YAMLValue, _ name: String) -> String? {
        value.string("\(name) is not an absolute path", hint: "begin it with /") { text in
            text.hasPrefix("/") && text.utf8.count <= 4096 && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
                ? text : nil
        }
    }
}
