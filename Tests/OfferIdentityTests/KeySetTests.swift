import Foundation
import OfferCore
import OfferIdentity
import TestSupport
import Testing

@Suite("Key sets")
struct KeySetTests {
    private static let place = KeySetPlace.file(path: "keys.json")

    private static func read(_ text: String) async throws -> (set: UserKeySet, problems: [SetupProblem]) {
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

    /// What the keys of a set are good for, as `kid:alg`.
    private static func uses(_ set: UserKeySet) -> Set<String> {
        Set(set.keys.map { "\($0.id.map { String(decoding: $0, as: UTF8.self) } ?? "-"):\($0.algorithm.rawValue)" })
    }

    @Test("a key is good for the algorithms of its kind, and verifies what they sign, with no bit turned")
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

    @Test("alg of a key leaves it good for that alone")
    func onlyAlgorithm() async throws {
        let rsa = try ProviderKey.make(for: "RS256")
        #expect(try await Self.uses(Self.read(ProviderKey.set(rsa)).set).count == 6)
        let only = try await Self.read(ProviderKey.set([rsa.jwk(["alg": "PS256"])])).set
        #expect(Self.uses(only) == ["key-1:PS256"])
    }

    @Test("what is for something else or of no known kind is passed over, and the rest is taken")
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

    @Test("a key for signatures that comes to nothing is passed over, and told of")
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
        ] {
            let (set, problems) = try await Self.read(ProviderKey.set([odd, good.jwk()]))
            #expect(Self.uses(set) == ["good:ES256"], "\(odd)")
            #expect(problems.map(\.error).joined().contains("is passed over"), "\(odd)")
        }
        let (set, problems) = try await Self.read(ProviderKey.set(good, rsa))
        #expect(set.keys.count == 7 && problems == [])
    }

    @Test(
        "a point of Ed25519 that is of small order, or written in another way than its own, is no key",
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

    @Test("an RSA key of less than 2048 bits is passed over, and told of")
    func shortKey() async throws {
        let short = Data([0x80] + [UInt8](repeating: 1, count: 254)).base64URL  // 2040 bits
        let padded = Data([0, 0x7F] + [UInt8](repeating: 1, count: 255)).base64URL  // 2047 bits in 257 bytes
        for modulus in [short, padded] {
            let (set, problems) = try await Self.read(
                ProviderKey.set([
                    #"{"kty":"RSA","kid":"short","n":"\#(modulus)","e":"AQAB"}"#, ProviderKey().jwk(),
                ]))
            #expect(Self.uses(set) == ["key-1:ES256"])
            #expect(problems.map(\.error) == ["keys.json has an RSA key of less than 2048 bits, which is passed over"])
        }
    }

    @Test("a private or a symmetric key makes the set no good, and is not repeated")
    func secretKeys() async throws {
        let key = ProviderKey()
        for secret in [
            try key.jwk(["d": "marked"]), try key.jwk(["use": "enc", "d": "marked"]), try key.jwk(["p": "marked"]),
            #"{"kty":"oct","k":"marked"}"#, #"{"kty":"oct"}"#, try key.jwk(["priv": "marked"]),
            // What is wrong with the rest of a key does not hide it.
            #"{"d":"marked"}"#, #"{"kty":1,"d":"marked"}"#, #"{"kty":"RSA","kid":1,"d":"marked"}"#,
            #"{"kty":"EC","crv":"P-256","key_ops":"sign","d":"marked"}"#, #"{"kty":"oct","use":1}"#,
            #"{"kty":"RSA","alg":["RS256"],"p":null}"#,
            // It cannot be told what these are.
            #""marked""#, "1", "[]", "null",
        ] {
            let refusal = await Self.refusal(ProviderKey.set([try key.jwk(), secret]))
            #expect(refusal?.kind == .bad)
            #expect(
                refusal?.problem.error
                    == "keys.json holds a private or a symmetric key, and whoever has it can pass for any user")
        }
    }

    @Test(
        "what is no set was not had; a set that has no key of use says that there is none",
        arguments: [
            ("", .notHad), ("{}", .notHad), ("[]", .notHad), ("{", .notHad), (#"{"keys":{}}"#, .notHad),
            ("<html></html>", .notHad), ("\u{0}", .notHad), (#"{"error":"try again later"}"#, .notHad),
            (#"{"keys":[]}"#, .bad), (#"{"keys":[{}]}"#, .bad),
            (#"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#, .bad),
        ] as [(String, KeySetFault.Kind)])
    func unusable(text: String, kind: KeySetFault.Kind) async {
        let refusal = await Self.refusal(text)
        #expect(refusal?.problem.error.hasPrefix("keys.json ") == true && refusal?.kind == kind)
    }

    @Test("several keys of one kid are good for nothing, and told of")
    func sameName() async throws {
        let (set, problems) = try await Self.read(
            ProviderKey.set(ProviderKey(), ProviderKey(), ProviderKey(kid: "other")))
        #expect(problems.count == 1)
        #expect(set.key(Array("key-1".utf8), for: .es256) == nil)
        #expect(set.key(Array("other".utf8), for: .es256) != nil)
    }

    @Test("without kid a token means the only key for its algorithm; a key without kid serves no token with one")
    func withoutName() async throws {
        let rsa = try ProviderKey.make(for: "RS256", kid: "rsa")
        let mixed = try await Self.read(ProviderKey.set(ProviderKey(kid: nil), rsa)).set
        #expect(mixed.key(nil, for: .es256) != nil)
        #expect(mixed.key(nil, for: .rs256) != nil)
        #expect(mixed.key(Array("-".utf8), for: .es256) == nil, "the name that stands for none inside")
        #expect(mixed.key([], for: .es256) == nil)
        let two = try await Self.read(ProviderKey.set(ProviderKey(kid: "a"), ProviderKey(kid: "b"))).set
        #expect(two.key(nil, for: .es256) == nil)
    }
}
