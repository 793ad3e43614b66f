import Foundation
import OfferCore
import OfferIdentity
import TestSupport
import Testing

@Suite("Key sets")
struct KeySetTests {
    private static let place = KeySetLocation.file(path: "keys.json")

    private static func read(_ text: String) async throws -> (set: UserKeySet, problems: [Diagnostic]) {
        try await KeySetReader { _, _ in KeySetText([]) }.keys(in: Array(text.utf8), from: place)
    }

    private static func refusal(_ text: String) async -> KeySetFault? {
        do throws(KeySetFault) {
            _ = try await KeySetReader { _, _ in KeySetText([]) }.keys(in: Array(text.utf8), from: place)
            return nil
        } catch {
            return error
        }
    }

    /// The uses of the keys in a set, as `kid:alg`.
    private static func uses(_ set: UserKeySet) -> Set<String> {
        Set(set.keys.map { "\($0.id.map { String(decoding: $0, as: UTF8.self) } ?? "-"):\($0.algorithm.rawValue)" })
    }

    @Test("a key verifies signatures made with its algorithms and refuses altered ones")
    func algorithms() async throws {
        for algorithm in TokenAlgorithm.allCases {
            let key = try ProviderKey.make(for: algorithm.rawValue)
            let set = try await Self.read(ProviderKey.set(key)).set
            let message = Array("header.claims".utf8)
            let signature = [UInt8](try key.sign(Data(message), algorithm.rawValue))
            let verifier = try #require(set.key(Array("key-1".utf8), for: algorithm), "\(algorithm)")
            #expect(verifier.verifies(signature, message), "\(algorithm)")
            for bit in stride(from: 0, to: signature.count * 8, by: 7) {
                #expect(!verifier.verifies(signature.turningBit(bit), message), "\(algorithm), bit \(bit)")
            }
            let others: [[UInt8]] = [
                [], [0], signature + [0], signature.dropLast(), [UInt8](repeating: 0, count: signature.count),
            ]
            for other in others {
                #expect(!verifier.verifies(other, message))
            }
            for other in set.keys where other.algorithm != algorithm {
                #expect(!other.verifies(signature, message), "\(algorithm) passed for \(other.algorithm)")
            }
            #expect(!verifier.verifies(signature, message + [0]))
        }
    }

    @Test("a key's alg restricts it to that algorithm")
    func onlyAlgorithm() async throws {
        let rsa = try ProviderKey.make(for: "RS256")
        #expect(try await Self.uses(Self.read(ProviderKey.set(rsa)).set).count == 6)
        let only = try await Self.read(ProviderKey.set([rsa.jwk(["alg": "PS256"])])).set
        #expect(Self.uses(only) == ["key-1:PS256"])
    }

    @Test("keys for another purpose or of an unknown type are skipped, and the others are used")
    func passedOver() async throws {
        let (good, other) = (ProviderKey(kid: "good"), ProviderKey(kid: "other"))
        let rsa = try ProviderKey.make(for: "RS256", kid: "other")
        for odd in [
            try other.jwk(["use": "enc"]), try other.jwk(["kty": "XYZ"]), try other.jwk(["crv": "secp256k1"]),
            try other.jwk(["alg": "none"]), try other.jwk(["alg": "HS256"]), try other.jwk(["alg": "ECDH-ES"]),
            try rsa.jwk(["alg": "RSA-OAEP"]), try rsa.jwk(["use": "enc"]), try rsa.jwk(["use": "enc", "e": "AQ"]),
            #"{"kty":"EC","crv":"P-256","kid":"other","key_ops":["sign"],"x":"AA","y":"AA"}"#,
            #"{"kty":"OKP","crv":"X25519","kid":"other","x":"AA"}"#,
        ] {
            let (set, problems) = try await Self.read(ProviderKey.set([odd, good.jwk()]))
            #expect(Self.uses(set) == ["good:ES256"], "\(odd)")
            #expect(problems == [])
        }
    }

    /// Returns `key` as a JWK in which `change` has altered the member `name`.
    private static func changing(_ key: ProviderKey, _ name: String, _ change: (String) -> String) throws -> String {
        let members = try JSONSerialization.jsonObject(with: Data(key.jwk().utf8)) as? [String: String]
        return try key.jwk([name: change(#require(members?[name]))])
    }

    @Test("an unusable signature key is skipped and reported")
    func damaged() async throws {
        let (good, other) = (ProviderKey(kid: "good"), ProviderKey(kid: "other"))
        let rsa = try ProviderKey.make(for: "RS256", kid: "other")
        for odd in [
            try other.jwk(["x": "AAAA"]), try other.jwk(["x": nil]), try other.jwk(["y": "****"]),
            try other.jwk(["x": String(repeating: "A", count: 43), "y": String(repeating: "A", count: 43)]),
            try other.jwk(["kty": nil]), try other.jwk(["alg": "ES384"]), try other.jwk(["alg": "Ed25519"]),
            try rsa.jwk(["e": nil]), try rsa.jwk(["e": "AQ"]), try rsa.jwk(["e": "Aw"]), try rsa.jwk(["e": "AP__"]),
            try rsa.jwk(["e": "AQAA"]), try rsa.jwk(["e": ""]), "{}", #"{"kty":1}"#, #"{"kty":"RSA","kid":1}"#,
            #"{"kty":"OKP","crv":"Ed25519","x":"AA"}"#, #"{"kty":"OKP","crv":"Ed25519"}"#,
            // The same numbers in an invalid encoding (RFC 7515 section 2, RFC 7518 section 6.2.1.2).
            try Self.changing(other, "x") { "AA" + $0 }, try Self.changing(other, "x") { " " + $0 },
            try Self.changing(other, "y") { "=" + $0 }, try Self.changing(rsa, "e") { $0 + "\\n" },
        ] {
            let (set, problems) = try await Self.read(ProviderKey.set([odd, good.jwk()]))
            #expect(Self.uses(set) == ["good:ES256"], "\(odd)")
            #expect(problems.map(\.error).joined().contains("is ignored"), "\(odd)")
        }
        // A modulus that cannot be decoded is reported as damaged, an empty one as short.
        for n in ["", "A", "AQ=AB", "AQ.B"] {
            let (_, problems) = try await Self.read(ProviderKey.set([rsa.jwk(["n": n]), good.jwk()]))
            let problem = n.isEmpty ? "an RSA key shorter than 2048 bits" : "a damaged or weak key"
            #expect(problems.map(\.error) == ["keys.json has \(problem), which is ignored"], "\(n)")
        }
        let (set, problems) = try await Self.read(ProviderKey.set(good, rsa))
        #expect(set.keys.count == 7 && problems == [])
    }

    @Test("numbers can also be in plain base64 with padding")
    func plainBase64() async throws {
        let (ellipticCurve, rsa) = (ProviderKey(kid: "other"), try ProviderKey.make(for: "RS256", kid: "other"))
        func plain(_ text: String) -> String {
            let text = text.replacing("-", with: "+").replacing("_", with: "/")
            return text + String(repeating: "=", count: (4 - text.count % 4) % 4)
        }
        for (key, name) in [(ellipticCurve, "x"), (ellipticCurve, "y"), (rsa, "n"), (rsa, "e")] {
            let (expected, _) = try await Self.read(ProviderKey.set([key.jwk()]))
            let (set, problems) = try await Self.read(ProviderKey.set([Self.changing(key, name, plain)]))
            #expect(Self.uses(set) == Self.uses(expected) && problems == [], "\(name)")
        }
    }

    @Test(
        "an Ed25519 point of small order or in non-canonical form is refused",
        arguments: [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ])
    func smallOrder(y: String) async throws {
        var point = try #require(Hexadecimal.bytes(of: y, count: 32))
        for sign in [0, 0x80] as [UInt8] {
            point[31] = point[31] & 0x7F | sign
            let odd = #"{"kty":"OKP","crv":"Ed25519","kid":"odd","x":"\#(Data(point).base64URL)"}"#
            let (set, problems) = try await Self.read(ProviderKey.set([odd, ProviderKey().jwk()]))
            #expect(Self.uses(set) == ["key-1:ES256"])
            #expect(problems.count == 1)
        }
    }

    @Test("an RSA key shorter than 2048 bits is skipped and reported")
    func shortKey() async throws {
        let short = Data([0x80] + [UInt8](repeating: 1, count: 254)).base64URL  // 2040 bits
        let padded = Data([0, 0x7F] + [UInt8](repeating: 1, count: 255)).base64URL  // 2047 bits in 257 bytes
        for modulus in [short, padded] {
            let (set, problems) = try await Self.read(
                ProviderKey.set([
                    #"{"kty":"RSA","kid":"short","n":"\#(modulus)","e":"AQAB"}"#, ProviderKey().jwk(),
                ]))
            #expect(Self.uses(set) == ["key-1:ES256"])
            #expect(problems.map(\.error) == ["keys.json has an RSA key shorter than 2048 bits, which is ignored"])
        }
    }

    @Test("a private or symmetric key makes the set unusable, and the error does not repeat the key")
    func secretKeys() async throws {
        let key = ProviderKey()
        for secret in [
            try key.jwk(["d": "marked"]), try key.jwk(["use": "enc", "d": "marked"]), try key.jwk(["p": "marked"]),
            #"{"kty":"oct","k":"marked"}"#, #"{"kty":"oct"}"#, try key.jwk(["priv": "marked"]),
            // Damage elsewhere in a key does not hide the secret.
            #"{"d":"marked"}"#, #"{"kty":1,"d":"marked"}"#, #"{"kty":"RSA","kid":1,"d":"marked"}"#,
            #"{"kty":"EC","crv":"P-256","key_ops":"sign","d":"marked"}"#, #"{"kty":"oct","use":1}"#,
            #"{"kty":"RSA","alg":["RS256"],"p":null}"#,
            // Elements that are not objects count as secret.
            #""marked""#, "1", "[]", "null",
        ] {
            let refusal = await Self.refusal(ProviderKey.set([try key.jwk(), secret]))
            #expect(refusal?.kind == .unusable)
            #expect(
                refusal?.problem.error
                    == "keys.json contains a private or symmetric key, with which anyone can impersonate any user")
        }
    }

    @Test(
        "a document that is not a key set is unavailable; a set without usable keys is unusable",
        arguments: [
            ("", .unavailable), ("{}", .unavailable), ("[]", .unavailable), ("{", .unavailable),
            (#"{"keys":{}}"#, .unavailable), ("<html></html>", .unavailable), ("\u{0}", .unavailable),
            (#"{"error":"try again later"}"#, .unavailable),
            (#"{"keys":[]}"#, .unusable), (#"{"keys":[{}]}"#, .unusable),
            (#"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#, .unusable),
        ] as [(String, KeySetFault.Kind)])
    func unusable(text: String, kind: KeySetFault.Kind) async {
        let refusal = await Self.refusal(text)
        #expect(refusal?.problem.error.hasPrefix("keys.json ") == true && refusal?.kind == kind)
    }

    @Test("keys that share a kid are reported and not used")
    func sameName() async throws {
        let (set, problems) = try await Self.read(
            ProviderKey.set(ProviderKey(), ProviderKey(), ProviderKey(kid: "other")))
        #expect(problems.count == 1)
        #expect(set.key(Array("key-1".utf8), for: .es256) == nil)
        #expect(set.key(Array("other".utf8), for: .es256) != nil)
    }

    @Test("a token without kid uses the only key for its algorithm; a key without kid verifies no token that has one")
    func withoutName() async throws {
        let rsa = try ProviderKey.make(for: "RS256", kid: "rsa")
        let mixed = try await Self.read(ProviderKey.set(ProviderKey(kid: nil), rsa)).set
        #expect(mixed.key(nil, for: .es256) != nil)
        #expect(mixed.key(nil, for: .rs256) != nil)
        #expect(mixed.key(Array("-".utf8), for: .es256) == nil, "the internal placeholder name")
        #expect(mixed.key([], for: .es256) == nil)
        let two = try await Self.read(ProviderKey.set(ProviderKey(kid: "a"), ProviderKey(kid: "b"))).set
        #expect(two.key(nil, for: .es256) == nil)
    }
}
