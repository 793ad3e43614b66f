import Foundation

/// Signs tokens of users. The service gets its public key as a file.
final class IdentityProvider: Sendable {
    let issuer = "https://id.example.com"
    private let folder: TemporaryFolder

    /// A JWK set (RFC 7517).
    var keySetPath: String { folder.path("jwks.json") }

    init() throws {
        folder = try TemporaryFolder()
        let key = folder.path("key.pem")
        try Program.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key])
        // The point is at the end: 32 bytes for each coordinate.
        let point = Array(try Program.run(["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER"]).suffix(64))
        let (x, y) = (Fixtures.base64URL(Data(point[..<32])), Fixtures.base64URL(Data(point[32...])))
        try folder.write(
            #"{"keys":[{"kty":"EC","crv":"P-256","kid":"1","alg":"ES256","use":"sig","x":"\#(x)","y":"\#(y)"}]}"#,
            to: "jwks.json")
    }

    /// A token that is valid for an hour.
    func token(of subject: String, account: UUID, audience: String) throws -> String {
        let now = Int(Date().timeIntervalSince1970)
        let payload = #"""
            {"iss":"\#(issuer)","aud":"\#(audience)","sub":"\#(subject)","account":"\#(account.uuidString.lowercased())",\#
            "iat":\#(now),"exp":\#(now + 3600)}
            """#
        let parts = [#"{"alg":"ES256","kid":"1","typ":"JWT"}"#, payload]
        let input = parts.map { Fixtures.base64URL(Data($0.utf8)) }.joined(separator: ".")
        let der = try Program.run(
            ["openssl", "dgst", "-sha256", "-sign", folder.path("key.pem")], input: Data(input.utf8))
        return input + "." + Fixtures.base64URL(AppStoreSigner.raw(Array(der)))
    }
}
