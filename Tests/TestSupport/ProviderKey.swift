package import Crypto
package import CryptoExtras
package import Foundation

/// An identity provider's key. It signs tokens using only swift-crypto and is published as a JWK.
package struct ProviderKey: Sendable {
    package enum Kind: Sendable {
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case p521(P521.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
        case rsa(_RSA.Signing.PrivateKey)
    }

    package let kind: Kind
    /// The `kid`; nil for a key without one.
    package let kid: String?

    package init(_ kind: Kind = .p256(.init()), kid: String? = "key-1") {
        self.kind = kind
        self.kid = kid
    }

    /// A shared RSA key, because generating one is slow.
    package static let rsa = Result { Kind.rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048)) }

    /// Returns a key for a JWS algorithm (RFC 7518, RFC 8037).
    package static func make(for algorithm: String, kid: String? = "key-1") throws -> ProviderKey {
        switch algorithm {
        case "ES256": ProviderKey(.p256(.init()), kid: kid)
        case "ES384": ProviderKey(.p384(.init()), kid: kid)
        case "ES512": ProviderKey(.p521(.init()), kid: kid)
        case "EdDSA": ProviderKey(.ed25519(.init()), kid: kid)
        default: ProviderKey(try rsa.get(), kid: kid)
        }
    }

    /// Returns the public half as a JWK (RFC 7517). A change replaces a member, or removes it if nil.
    package func jwk(_ changes: [String: String?] = [:]) throws -> String {
        var members: [String: String] = ["use": "sig"]
        members["kid"] = kid
        switch kind {
        case .p256(let key): members.merge(Self.ec("P-256", key.publicKey.rawRepresentation)) { $1 }
        case .p384(let key): members.merge(Self.ec("P-384", key.publicKey.rawRepresentation)) { $1 }
        case .p521(let key): members.merge(Self.ec("P-521", key.publicKey.rawRepresentation)) { $1 }
        case .ed25519(let key):
            members.merge(["kty": "OKP", "crv": "Ed25519", "x": key.publicKey.rawRepresentation.base64URL]) { $1 }
        case .rsa(let key):
            let numbers = try key.publicKey.getKeyPrimitives()
            members["kty"] = "RSA"
            members["n"] = numbers.modulus.base64URL
            members["e"] = numbers.publicExponent.base64URL
        }
        for (name, value) in changes { members[name] = value }
        return "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",")
            + "}"
    }

    private static func ec(_ curve: String, _ point: Data) -> [String: String] {
        [
            "kty": "EC", "crv": curve, "x": point.prefix(point.count / 2).base64URL,
            "y": point.suffix(point.count / 2).base64URL,
        ]
    }

    /// Makes a JWK Set from these keys.
    package static func set(_ keys: [String]) -> String { "{\"keys\":[\(keys.joined(separator: ","))]}" }

    package static func set(_ keys: ProviderKey...) throws -> String { set(try keys.map { try $0.jwk() }) }

    /// - Parameter algorithm: the JWS algorithm, which matters only for RSA keys because they support several.
    package func sign(_ message: Data, _ algorithm: String) throws -> Data {
        switch kind {
        case .p256(let key): return try key.signature(for: message).rawRepresentation
        case .p384(let key): return try key.signature(for: message).rawRepresentation
        case .p521(let key): return try key.signature(for: message).rawRepresentation
        case .ed25519(let key): return try key.signature(for: message)
        case .rsa(let key):
            let padding: _RSA.Signing.Padding = algorithm.hasPrefix("PS") ? .PSS : .insecurePKCS1v1_5
            return switch algorithm.suffix(3) {
            case "384": try key.signature(for: SHA384.hash(data: message), padding: padding).rawRepresentation
            case "512": try key.signature(for: SHA512.hash(data: message), padding: padding).rawRepresentation
            default: try key.signature(for: SHA256.hash(data: message), padding: padding).rawRepresentation
            }
        }
    }

    /// Makes a JWT with a valid signature, even if its contents are invalid.
    /// - Parameter header: JSON; nil for a valid header.
    package func token(_ algorithm: String = "ES256", header: String? = nil, claims: String) throws -> String {
        let header = header ?? "{\"alg\":\"\(algorithm)\"" + (kid.map { ",\"kid\":\"\($0)\"" } ?? "") + "}"
        let message = Data(header.utf8).base64URL + "." + Data(claims.utf8).base64URL
        return message + "." + (try sign(Data(message.utf8), algorithm)).base64URL
    }
}

extension Data {
    /// base64url without padding.
    package var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
