import FoundationEssentials
import OfferCore

/// A JWK Set (RFC 7517 section 5). Keys that are for something else, or of a kind that is not known here, are passed over
/// (as its section 5 wants); what no set that anybody can read should have makes it no good as a whole.
enum JSONWebKeySet {
    /// - Parameter name: what the set is called in a problem.
    static func keys(
        in text: [UInt8], from name: String
    ) async throws(KeySetFault) -> (set: UserKeySet, problems: [SetupProblem]) {
        let items: [Item]
        do { items = try JSONDecoder().decode(Document.self, from: Data(text)).keys } catch {
            throw KeySetFault(
                .notHad,
                SetupProblem(
                    "\(name) is no set of keys (JWKS)", hint: "it has to be a JSON object with a list of keys in it"))
        }
        if items.contains(where: \.mayBeSecret) {
            throw KeySetFault(
                .bad,
                SetupProblem(
                    "\(name) holds a private or a symmetric key, and whoever has it can pass for any user",
                    hint: "take it out, and have the identity provider make another: this one has leaked"))
        }
        var keys: [UserKeySet.Key] = []
        var passedOver = PassedOver()
        for item in items {
            guard let key = item.key else {
                passedOver.damaged = true
                continue
            }
            guard key.isForSignatures else { continue }
            guard !key.isTooShort else {
                passedOver.short = true
                continue
            }
            if key.isOfOtherAlgorithm || !key.algorithms.isEmpty && key.isWeak {
                passedOver.damaged = true
                continue
            }
            let verifiers = await verifiers(of: key)
            if verifiers.count < key.algorithms.count { passedOver.damaged = true }
            keys += verifiers
        }
        guard !keys.isEmpty else {
            throw KeySetFault(
                .bad,
                SetupProblem(
                    "\(name) has no key that users' tokens could be checked with",
                    hint: "it needs a public RSA key of 2048 bits, an EC key (P-256, P-384, P-521), or an Ed25519 key"))
        }
        return (UserKeySet(keys), passedOver.problems(in: name) + problems(of: keys, name))
    }

    private static func verifiers(of key: JSONWebKey) async -> [UserKeySet.Key] {
        var verifiers: [UserKeySet.Key] = []
        for algorithm in key.algorithms {
            if let verifier = await key.verifier(for: algorithm) { verifiers.append(verifier) }
        }
        return verifiers
    }

    private static func problems(of keys: [UserKeySet.Key], _ name: String) -> [SetupProblem] {
        let names = keys.map { Name(id: $0.id, algorithm: $0.algorithm) }
        guard Set(names).count < names.count else { return [] }
        return [
            SetupProblem(
                "\(name) has several keys of the same kid, or without one, and none of them is used",
                hint: "have the identity provider give each key a kid of its own")
        ]
    }

    private struct Name: Hashable {
        let id: [UInt8]?
        let algorithm: TokenAlgorithm
    }

    /// Whether there are keys for signatures that are not taken.
    private struct PassedOver {
        var short = false
        var damaged = false

        func problems(in name: String) -> [SetupProblem] {
            var problems: [SetupProblem] = []
            if short {
                problems.append(
                    SetupProblem(
                        "\(name) has an RSA key of less than \(JSONWebKey.minimumRSASize) bits, which is passed over",
                        hint: "have the identity provider sign with a longer one"))
            }
            if damaged {
                problems.append(
                    SetupProblem(
                        "\(name) has a key that is damaged or too weak, which is passed over",
                        hint: "no token that is signed with it is taken: have the identity provider make another"))
            }
            return problems
        }
    }

    private struct Document: Decodable {
        let keys: [Item]
    }

    /// One of the keys, as far as it can be read.
    private struct Item: Decodable {
        let mayBeSecret: Bool
        let key: JSONWebKey?

        init(from decoder: any Decoder) throws {
            mayBeSecret = (try? Secrecy(from: decoder).isSecret) ?? true
            key = try? JSONWebKey(from: decoder)
        }
    }

    /// Whether a key is one that nobody else should have. It looks at nothing else, so that no member that is damaged can
    /// hide it.
    private struct Secrecy: Decodable {
        let isSecret: Bool

        private enum Member: String, CodingKey, CaseIterable {
            case kty, d, p, q, dp, dq, qi, oth, k, priv
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Member.self)
            isSecret =
                Member.allCases.contains { $0 != .kty && members.contains($0) }
                || (try? members.decode(String.self, forKey: .kty)) == "oct"
        }
    }
}
