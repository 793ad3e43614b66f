import OfferCore
import OfferCrypto
import OfferEligibility

/// Reads the `callers` of the configuration file.
enum CallersReader {
    static func read(_ value: YAMLValue) -> [Caller] {
        value.list(
            "callers",
            ifEmpty: ("callers is empty, so anyone could request signatures", "add a caller, or remove callers")
        ).compactMap(readCaller)
    }

    private static let knownScopes = Caller.Scope.allCases.map(\.rawValue).joined(separator: ", ")

    private static func readCaller(_ value: YAMLValue) -> Caller? {
        let members = value.members(
            "a caller", known: ["name", "tokenSHA256", "scopes", "apps", "expires", "hashUsernames"],
            required: ["name", "tokenSHA256"])
        let name = members["name"]?.string("this is not a valid name", hint: "up to 64 letters, digits, . - _") {
            Caller.isName($0) ? $0 : nil
        }
        let digest = members["tokenSHA256"]?.string(
            "tokenSHA256 is not 64 hexadecimal digits", hint: "create a token with: offer-signer tokens new"
        ) { Hexadecimal.bytes(of: $0, count: 32) }
        let scopes = members["scopes"].map { value in
            value.list("scopes").compactMap {
                $0.string("this is not a scope", hint: "use any of \(knownScopes)") { Caller.Scope(rawValue: $0) }
            }
        }
        let apps = members["apps"]?.bundleIDs()
        let expiry = members["expires"]?.string(
            "expires is not a date", hint: "write it like 2027-01-31", ExpiryDate.read)
        let hashesUsernames = members["hashUsernames"]?.flag() ?? false
        guard let name, let digest else { return nil }
        return Caller(
            name: name, tokenDigest: digest, scopes: scopes.map { Set($0) } ?? Caller.Scope.usual, apps: apps,
            expiry: expiry, hashesUsernames: hashesUsernames)
    }
}
