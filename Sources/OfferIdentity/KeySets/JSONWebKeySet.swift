import FoundationEssentials
import OfferCore

/// A parser of JWK Sets (RFC 7517 section 5).
///
/// It skips keys for other purposes and keys of unknown types, as section 5 recommends. A private or symmetric key
/// makes the whole set unusable, because a published set must not contain one.
enum JSONWebKeySet {
    /// - Parameter name: the name of the set in diagnostics.
    /// - Returns: at least one key, and the problems with other keys.
    static func keys(
        in text: [UInt8], from name: String
    ) throws(KeySetFault) -> (set: UserKeySet, problems: [Diagnostic]) {
        let items: [Item]
        do { items = try JSONDecoder().decode(Document.self, from: Data(text)).keys } catch {
            throw KeySetFault(
                .unavailable,
                Diagnostic(
                    "\(name) is not a key set (JWKS)", hint: "it must be a JSON object with an array \"keys\""))
        }
        if items.contains(where: \.mayBeSecret) {
            throw KeySetFault(
                .unusable,
                Diagnostic(
                    "\(name) contains a private or symmetric key, with which anyone can impersonate any user",
                    hint: "remove it and replace it at the identity provider: this key has leaked"))
        }
        var keys: [UserKeySet.Key] = []
        var skipped = SkippedKeys()
        for item in items {
            guard let key = item.key else {
                skipped.damaged = true
                continue
            }
            guard key.isForSignatures else { continue }
            guard !key.isTooShort else {
                skipped.short = true
                continue
            }
            let isRefused = key.hasMismatchedAlgorithm || !key.algorithms.isEmpty && key.isWeak
            guard !isRefused, let verifiers = key.verifiers() else {
                skipped.damaged = true
                continue
            }
            keys += verifiers
        }
        guard !keys.isEmpty else {
            throw KeySetFault(
                .unusable,
                Diagnostic(
                    "\(name) has no key that can verify users' tokens",
                    hint: "add a public RSA key of at least 2048 bits, or a P-256, P-384, P-521 or Ed25519 key"))
        }
        return (UserKeySet(keys), skipped.problems(in: name) + problems(of: keys, name))
    }

    private static func problems(of keys: [UserKeySet.Key], _ name: String) -> [Diagnostic] {
        let names = keys.map { KeyName(id: $0.id, algorithm: $0.algorithm) }
        guard Set(names).count < names.count else { return [] }
        return [
            Diagnostic(
                "\(name) has several keys with the same kid or without one, which are ignored",
                hint: "configure the identity provider to give each key a unique kid")
        ]
    }

    private struct KeyName: Hashable {
        let id: [UInt8]?
        let algorithm: TokenAlgorithm
    }

    /// The reasons that signature keys were skipped.
    private struct SkippedKeys {
        var short = false
        var damaged = false

        func problems(in name: String) -> [Diagnostic] {
            var problems: [Diagnostic] = []
            if short {
                problems.append(
                    Diagnostic(
                        "\(name) has an RSA key shorter than \(JSONWebKey.minimumRSASize) bits, which is ignored",
                        hint: "configure the identity provider to sign with a longer key"))
            }
            if damaged {
                problems.append(
                    Diagnostic(
                        "\(name) has a damaged or weak key, which is ignored",
                        hint: "replace it at the identity provider; tokens signed with it are refused"))
            }
            return problems
        }
    }

    private struct Document: Decodable {
        let keys: [Item]
    }

    /// One element of the set. An unreadable key does not prevent reading the others.
    private struct Item: Decodable {
        let mayBeSecret: Bool
        let key: JSONWebKey?

        init(from decoder: any Decoder) throws {
            mayBeSecret = (try? Secrecy(from: decoder).isSecret) ?? true
            key = try? JSONWebKey(from: decoder)
        }
    }

    /// The members that show whether a key is private or symmetric. They are decoded separately, so that damage
    /// elsewhere in the key cannot hide them.
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
