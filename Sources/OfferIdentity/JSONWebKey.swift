import FoundationEssentials
import JWTKit
import OfferCore

/// A public key of a set (RFC 7517 section 4), as far as signatures need it.
struct JSONWebKey: Decodable {
    /// Of RSA keys, in bits.
    static let minimumRSASize = 2048

    let id: String?
    let isForSignatures: Bool
    /// The algorithms that the key is good for.
    let algorithms: [TokenAlgorithm]
    /// Whether it names an algorithm that no key of its kind can have.
    let isOfOtherAlgorithm: Bool
    private let type: String
    private let curve: String?
    /// `n` and `e`, or `x` and `y`.
    private let numbers: [Member: String]

    private enum Member: String, CodingKey {
        case kty, use, alg, crv, kid, n, e, x, y
        case operations = "key_ops"
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        type = try members.decode(String.self, forKey: .kty)
        curve = try members.decodeIfPresent(String.self, forKey: .crv)
        id = try members.decodeIfPresent(String.self, forKey: .kid)
        let use = try members.decodeIfPresent(String.self, forKey: .use)
        let operations = try members.decodeIfPresent([String].self, forKey: .operations)
        isForSignatures = (use ?? "sig") == "sig" && (operations?.contains("verify") ?? true)
        let possible = Self.algorithms(type: type, curve: curve)
        let name = try members.decodeIfPresent(String.self, forKey: .alg)
        let only = name.flatMap { TokenAlgorithm(name: $0.utf8) }
        algorithms = possible.filter { name == nil || $0 == only }
        isOfOtherAlgorithm = only != nil && !possible.isEmpty && algorithms.isEmpty
        var numbers: [Member: String] = [:]
        for member in [Member.n, .e, .x, .y] {
            numbers[member] = try members.decodeIfPresent(String.self, forKey: member)
        }
        self.numbers = numbers
    }

    private static func algorithms(type: String, curve: String?) -> [TokenAlgorithm] {
        switch (type, curve) {
        case ("RSA", _): [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        case ("EC", "P-256"): [.es256]
        case ("EC", "P-384"): [.es384]
        case ("EC", "P-521"): [.es512]
        case ("OKP", "Ed25519"): [.edDSA]
        default: []
        }
    }

    var isTooShort: Bool { type == "RSA" && !algorithms.isEmpty && Self.bitCount(bytes(.n)) < Self.minimumRSASize }

    /// Whether it is one that a library may take, and nobody should: under an exponent that is small, signatures have been
    /// forged, and under some points of Ed25519 every signature is easily made.
    var isWeak: Bool {
        switch type {
        case "RSA":
            let exponent = bytes(.e)
            return Self.bitCount(exponent) < 17 || exponent.last.map { $0 % 2 == 0 } ?? true
        case "OKP": return !Ed25519Point.isGood(bytes(.x))
        default: return false
        }
    }

    /// - Returns: nil if the key is damaged.
    func verifier(for algorithm: TokenAlgorithm) async -> UserKeySet.Key? {
        // The collection wants a name, and finds the key again by it.
        let name = JWKIdentifier(string: "-")
        guard let jwk = jwk(name, for: JWK.Algorithm(rawValue: algorithm.rawValue)) else { return nil }
        // A collection of its own for each algorithm: it keeps the first that it has made for a key, whatever is asked for.
        let collection = JWTKeyCollection()
        guard (try? await collection.add(jwk: jwk)) != nil,
            let verifier = try? await collection.getKey(for: name, alg: algorithm.rawValue),
            verifier.name == algorithm.rawValue
        else { return nil }
        return UserKeySet.Key(id: id.map { Array($0.utf8) }, algorithm: algorithm) {
            (try? verifier.verify($0, signs: $1)) ?? false
        }
    }

    /// The key with what was read of it, and nothing else.
    private func jwk(_ name: JWKIdentifier, for algorithm: JWK.Algorithm?) -> JWK? {
        switch type {
        case "RSA": .rsa(algorithm, identifier: name, modulus: numbers[.n], exponent: numbers[.e])
        case "EC":
            .ecdsa(
                algorithm, identifier: name, x: numbers[.x], y: numbers[.y],
                curve: curve.flatMap { ECDSACurve(rawValue: $0) })
        case "OKP": .octetKeyPair(algorithm, identifier: name, x: numbers[.x], y: nil, curve: .ed25519)
        default: nil
        }
    }

    /// - Returns: the bytes of a member in base64url; none if it is not there, or is no base64url.
    private func bytes(_ member: Member) -> [UInt8] {
        let text = numbers[member] ?? ""
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        return [UInt8](Data(base64Encoded: base64 + padding) ?? Data())
    }

    /// Of a number, its first byte the highest.
    private static func bitCount(_ number: [UInt8]) -> Int {
        let bytes = number.drop { $0 == 0 }
        return bytes.count * 8 - (bytes.first?.leadingZeroBitCount ?? 0)
    }
}
