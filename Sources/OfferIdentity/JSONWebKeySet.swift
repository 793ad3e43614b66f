import FoundationEssentials
import JWTKit
import OfferCore

/// A JWK Set (RFC 7517 section 5). Keys that are for something else, or of a kind that is not known here, are passed over
/// (as its section 5 wants); what no set that anybody can read should have makes it no good as a whole.
enum JSONWebKeySet {
    /// - Parameter name: what the set is called in a problem.
    static func keys(
        in text: [UInt8], from name: String
    ) async throws(SetupProblem) -> (set: UserKeySet, problems: [SetupProblem]) {
        let items: [Item]
        do { items = try JSONDecoder().decode(Document.self, from: Data(text)).keys } catch {
            throw SetupProblem(
                "\(name) is no set of keys (JWKS)", hint: "it has to be a JSON object with a list of keys in it")
        }
        if items.contains(where: { $0.key?.isSecret == true }) {
            throw SetupProblem(
                "\(name) holds a private or a symmetric key, and whoever has it can pass for any user",
                hint: "take it out, and have the identity provider make another: this one has leaked")
        }
        var keys: [UserKeySet.Key] = []
        var shortCount = 0
        for item in items {
            guard let key = item.key, let jwk = item.jwk, key.isForSignatures else { continue }
            guard !key.isTooShort else {
                shortCount += 1
                continue
            }
            for algorithm in key.algorithms {
                if let key = await verifier(for: algorithm, by: jwk) { keys.append(key) }
            }
        }
        guard !keys.isEmpty else {
            throw SetupProblem(
                "\(name) has no key that users' tokens could be checked with",
                hint: "it needs a public RSA key of 2048 bits, an EC key (P-256, P-384, P-521), or an Ed25519 key")
        }
        return (UserKeySet(keys), problems(of: keys, shortCount: shortCount, name))
    }

    private static func problems(of keys: [UserKeySet.Key], shortCount: Int, _ name: String) -> [SetupProblem] {
        var problems: [SetupProblem] = []
        if shortCount > 0 {
            problems.append(
                SetupProblem(
                    "\(name) has an RSA key of less than \(Key.minimumRSASize) bits, which is passed over",
                    hint: "have the identity provider sign with a longer one"))
        }
        let names = keys.map { Name(id: $0.id, algorithm: $0.algorithm) }
        if Set(names).count < names.count {
            problems.append(
                SetupProblem(
                    "\(name) has several keys of the same kid, or without one, and none of them is used",
                    hint: "have the identity provider give each key a kid of its own"))
        }
        return problems
    }

    private struct Name: Hashable {
        let id: [UInt8]?
        let algorithm: TokenAlgorithm
    }

    /// - Returns: nil if the key is damaged.
    private static func verifier(for algorithm: TokenAlgorithm, by jwk: JWK) async -> UserKeySet.Key? {
        var named = jwk
        named.algorithm = JWK.Algorithm(rawValue: algorithm.rawValue)
        // The collection wants a name, and finds the key again by it.
        let id = jwk.keyIdentifier ?? JWKIdentifier(string: "-")
        named.keyIdentifier = id
        // A collection of its own for each algorithm: it keeps the first that it has made for a key, whatever is asked for.
        let collection = JWTKeyCollection()
        guard (try? await collection.add(jwk: named)) != nil,
            let verifier = try? await collection.getKey(for: id, alg: algorithm.rawValue),
            verifier.name == algorithm.rawValue
        else { return nil }
        return UserKeySet.Key(id: jwk.keyIdentifier.map { Array($0.string.utf8) }, algorithm: algorithm) {
            (try? verifier.verify($0, signs: $1)) ?? false
        }
    }

    private struct Document: Decodable {
        let keys: [Item]
    }

    /// One of the keys, as far as it can be read.
    private struct Item: Decodable {
        let jwk: JWK?
        let key: Key?

        init(from decoder: any Decoder) throws {
            jwk = try? JWK(from: decoder)
            key = try? Key(from: decoder)
        }
    }

    /// What has to be known of a key before it is believed.
    private struct Key: Decodable {
        /// In bits.
        static let minimumRSASize = 2048

        let isSecret: Bool
        let isForSignatures: Bool
        /// The algorithms that the key is good for.
        let algorithms: [TokenAlgorithm]
        let isTooShort: Bool

        private enum Member: String, CodingKey {
            case kty, use, alg, crv, n, d, p, q, dp, dq, qi, oth, k, priv
            case operations = "key_ops"
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Member.self)
            let type = try members.decode(String.self, forKey: .kty)
            isSecret = type == "oct" || [.d, .p, .q, .dp, .dq, .qi, .oth, .k, .priv].contains(where: members.contains)
            let use = try members.decodeIfPresent(String.self, forKey: .use)
            let operations = try members.decodeIfPresent([String].self, forKey: .operations)
            isForSignatures = (use ?? "sig") == "sig" && (operations?.contains("verify") ?? true)
            let possible = Self.algorithms(type: type, curve: try members.decodeIfPresent(String.self, forKey: .crv))
            let only = try members.decodeIfPresent(String.self, forKey: .alg)
            algorithms = possible.filter { only == nil || $0.rawValue == only }
            let modulus = try members.decodeIfPresent(String.self, forKey: .n)
            isTooShort = type == "RSA" && !algorithms.isEmpty && Self.bitCount(modulus ?? "") < Self.minimumRSASize
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

        /// Of a number in base64url; 0 if it is none.
        private static func bitCount(_ text: String) -> Int {
            let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
            let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
            let bytes = (Data(base64Encoded: base64 + padding) ?? Data()).drop { $0 == 0 }
            return bytes.count * 8 - (bytes.first?.leadingZeroBitCount ?? 0)
        }
    }
}
