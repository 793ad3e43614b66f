import OfferCore
import OfferCrypto

/// A public key of a JWK Set (RFC 7517 section 4), with the members needed to verify signatures.
struct JSONWebKey: Decodable {
    /// The minimum size of an RSA key, in bits.
    static let minimumRSASize = 2048

    let id: String?
    let isForSignatures: Bool
    /// The algorithms that the key supports.
    let algorithms: [TokenAlgorithm]
    /// True if `alg` names an algorithm that keys of this type do not support.
    let hasMismatchedAlgorithm: Bool
    /// The kind of key; nil for an unknown type or curve.
    private let kind: TokenKeyKind?
    /// The members `n` and `e`, or `x` and `y`, as far as they are present.
    private let numbers: [Member: String]

    private enum Member: String, CodingKey {
        case kty, use, alg, crv, kid, n, e, x, y
        case operations = "key_ops"
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        let type = try members.decode(String.self, forKey: .kty)
        kind = Self.kind(type: type, curve: try members.decodeIfPresent(String.self, forKey: .crv))
        id = try members.decodeIfPresent(String.self, forKey: .kid)
        let use = try members.decodeIfPresent(String.self, forKey: .use)
        let operations = try members.decodeIfPresent([String].self, forKey: .operations)
        isForSignatures = (use ?? "sig") == "sig" && (operations?.contains("verify") ?? true)
        let possible = kind?.algorithms ?? []
        let name = try members.decodeIfPresent(String.self, forKey: .alg)
        let only = name.flatMap { TokenAlgorithm(name: $0.utf8) }
        algorithms = possible.filter { name == nil || $0 == only }
        hasMismatchedAlgorithm = only != nil && !possible.isEmpty && algorithms.isEmpty
        var numbers: [Member: String] = [:]
        for member in [Member.n, .e, .x, .y] {
            numbers[member] = try members.decodeIfPresent(String.self, forKey: member)
        }
        self.numbers = numbers
    }

    private static func kind(type: String, curve: String?) -> TokenKeyKind? {
        switch type {
        case "RSA": .rsa
        case "EC": curve.flatMap(TokenCurve.init).map { .ellipticCurve($0) }
        case "OKP": curve == "Ed25519" ? .ed25519 : nil
        default: nil
        }
    }

    /// True if an RSA key is too short. False if the modulus cannot be decoded: such a key counts as damaged, not
    /// short.
    var isTooShort: Bool {
        guard kind == .rsa, !algorithms.isEmpty, let modulus = bytes(.n) else { return false }
        return BigEndianNumber.bitCount(modulus) < Self.minimumRSASize
    }

    /// True if the key is insecure although libcrypto accepts it. Signatures have been forged for RSA keys with small
    /// exponents, and they are trivial to forge for some Ed25519 points.
    var isWeak: Bool {
        switch kind {
        case .rsa:
            let exponent = bytes(.e) ?? []
            return BigEndianNumber.bitCount(exponent) < 17 || exponent.last.map { $0 % 2 == 0 } ?? true
        case .ed25519: return !Ed25519Point.isAcceptable(bytes(.x) ?? [])
        case .ellipticCurve, nil: return false
        }
    }

    /// Makes one verifier for each algorithm. All verifiers share one libcrypto key.
    /// - Returns: nil if the key is damaged.
    func verifiers() -> [UserKeySet.Key]? {
        guard let kind, !algorithms.isEmpty else { return [] }
        guard let key = try? verificationKey(kind) else { return nil }
        let id = id.map { Array($0.utf8) }
        return algorithms.map { algorithm in
            UserKeySet.Key(id: id, algorithm: algorithm) { (try? key.verify($0, of: $1, by: algorithm)) ?? false }
        }
    }

    /// Makes the libcrypto key. A missing or unreadable member counts as empty, which is not a valid number.
    private func verificationKey(_ kind: TokenKeyKind) throws(OpenSSLError) -> TokenVerificationKey {
        switch kind {
        case .rsa: try TokenVerificationKey(rsaModulus: bytes(.n) ?? [], exponent: bytes(.e) ?? [])
        case .ellipticCurve(let curve): try TokenVerificationKey(curve, x: bytes(.x) ?? [], y: bytes(.y) ?? [])
        case .ed25519: try TokenVerificationKey(ed25519: bytes(.x) ?? [])
        }
    }

    /// - Returns: the bytes of a member; nil if it is missing or not base64url (RFC 7515 section 2). Some providers add padding
    ///   or use the standard base64 alphabet. Neither changes the number, so both are accepted.
    private func bytes(_ member: Member) -> [UInt8]? {
        numbers[member].flatMap { text in
            var text = text.replacing("+", with: "-").replacing("/", with: "_")[...]
            while text.last == "=" { text.removeLast() }
            return Base64URL.bytes(of: text.utf8)
        }
    }
}
