import Crypto
import CryptoExtras
import Foundation
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferIdentity
import OfferService
import TestSupport
import Testing

/// Users who sign in with an identity provider's tokens. swift-crypto signs the tokens.
@Suite("Signed-in users")
struct UserTests {
    private static let issuer = "https://id.example.com/"
    private static let now = Fixtures.timestamp.milliseconds / 1000
    private static let allAlgorithms = Set(TokenAlgorithm.allCases)
    private static let body = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o"}"#

    private static func issuer(
        _ name: String = issuer, algorithms: Set<TokenAlgorithm> = allAlgorithms,
        customer: UserIssuer.CustomerClaim = .applicationUsername("sub"), apps: [String]? = nil
    ) throws -> UserIssuer {
        UserIssuer(
            issuer: name, audience: "com.example.offers", keys: .file(path: name), algorithms: algorithms,
            customer: customer, apps: try apps.map { Set(try $0.map { try BundleID(utf8: Array($0.utf8)) }) })
    }

    /// A service that has loaded the keys of `issuers`.
    private static func routes(
        _ keys: String, _ issuers: UserIssuer..., salt: String? = nil, callers: [Caller] = [],
        issuerIDs: IssuerIDs = IssuerIDs()
    ) async throws -> TestService {
        let issuers = issuers.isEmpty ? [try issuer()] : issuers
        let routes = try TestService(
            issuerIDs: issuerIDs, callers: callers, userIssuers: issuers,
            usernameSalt: salt.map(Secret.init))
        for issuer in issuers {
            let set = try await KeySetReader { _, _ in KeySetText([]) }.keys(in: Array(keys.utf8), from: issuer.keys)
                .set
            routes.userKeys.replace(set, of: issuer)
        }
        return routes
    }

    /// Valid claims as JSON, with `changes` applied; nil removes a claim.
    private static func claims(_ changes: [String: String?] = [:]) -> String {
        var members = [
            "iss": "\"\(issuer)\"", "aud": #""com.example.offers""#, "exp": "\(now + 600)", "sub": #""marked-user""#,
        ]
        for (name, value) in changes { members[name] = value }
        return "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    private static func offer(_ routes: TestService, _ token: String, _ body: String = body) -> HTTPResponse {
        routes.post("/offer", body, token: token)
    }

    /// Expects the generic refusal of a token, and a log that names `reason` but repeats none of the token's text.
    private static func expectRefusal(
        _ routes: TestService, _ token: String, _ reason: String, _ location: SourceLocation = #_sourceLocation
    ) {
        let answer = offer(routes, token)
        #expect(answer.status == 401, sourceLocation: location)
        #expect(answer.json["code"] as? String == "credentials_refused", sourceLocation: location)
        #expect(
            answer.json["detail"] as? String == Problem.credentialsRefused.detail, sourceLocation: location)
        #expect(
            answer.headers.contains { $0 == ("WWW-Authenticate", #"Bearer error="invalid_token""#) },
            sourceLocation: location)
        let log = routes.log.text
        let lines = log.split(separator: "\n")
        #expect(lines.last?.contains(reason) == true, "\(log)", sourceLocation: location)
        #expect(
            lines.filter { $0.contains(answer.json["requestID"] as? String ?? "-") } == lines.suffix(1),
            "one line, with the request ID", sourceLocation: location)
        #expect(!log.contains("marked") && !log.contains("eyJ"), sourceLocation: location)
    }

    @Test(
        "a user gets no JWS and cannot use the introductory-offer and advanced-commerce routes"
    )
    func jws() async throws {
        let key = try ProviderKey.make(for: "ES256")
        let routes = try await Self.routes(
            ProviderKey.set(key), issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()))
        let authorization = "Bearer " + (try key.token("ES256", claims: Self.claims()))
        let offer = #"{"bundleID":"a","productID":"p","offerID":"o","transactionID":"1"}"#
        for body in [offer, #"{"offers":[\#(offer)]}"#] {
            let answer = routes.post("/v1/promotional-offers", body, authorization: authorization)
            #expect(answer.status == 200 && !answer.text.contains("eyJ"))
            #expect(answer.text.contains(#""compactJWSMissing":["callers_token_missing"]"#))
        }
        for (path, body) in [
            (
                "introductory-offers",
                #"{"bundleID":"a","productID":"p","allowIntroductoryOffer":true,"transactionID":"1"}"#
            ), ("advanced-commerce", #"{"bundleID":"a","request":{}}"#), ("advanced-commerce", ""),
        ] {
            let answer = routes.post("/v1/" + path, body, authorization: authorization)
            #expect(answer.status == 403 && answer.authenticate == nil)
            #expect(answer.json["code"] as? String == "not_for_users")
        }
    }

    @Test("a valid token gets an offer signed for its user", arguments: TokenAlgorithm.allCases)
    func good(algorithm: TokenAlgorithm) async throws {
        let key = try ProviderKey.make(for: algorithm.rawValue)
        let routes = try await Self.routes(ProviderKey.set(key))
        let answer = Self.offer(routes, try key.token(algorithm.rawValue, claims: Self.claims()))
        #expect(answer.status == 200, "\(routes.log.text)")
        #expect(answer.json["applicationUsername"] as? String == "marked-user")
        #expect(Set(answer.json.keys) == ["keyID", "nonce", "timestamp", "signature", "applicationUsername"])
        let v1 = routes.post(
            "/v1/promotional-offers", #"{"bundleID":"a","productID":"p","offerID":"o"}"#,
            authorization: "Bearer \(try key.token(algorithm.rawValue, claims: Self.claims()))")
        #expect(v1.status == 200 && v1.json["applicationUsername"] as? String == "marked-user")
        #expect(!routes.log.text.contains("marked"), "the log does not identify the user")
    }

    @Test("tokens signed by the openssl command are accepted", arguments: ["RS256", "PS256"])
    func openssl(algorithm: String) async throws {
        let key = try ProviderKey.make(for: algorithm)
        guard case .rsa(let rsa) = key.kind else { return }
        let folder = try TemporaryFolder()
        try folder.write(rsa.pemRepresentation.utf8, to: "key.pem")
        let message =
            Data(#"{"alg":"\#(algorithm)","typ":"JWT"}"#.utf8).base64URL + "." + Data(Self.claims().utf8).base64URL
        try folder.write(message.utf8, to: "message")
        let padding =
            algorithm == "PS256" ? ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"] : []
        let outcome = try Command.run(
            "openssl", ["dgst", "-sha256", "-sign", "key.pem"] + padding + ["-out", "signature", "message"],
            directory: folder.url)
        try #require(outcome.status == 0, "\(outcome.standardError)")
        let token = message + "." + Data(try folder.read("signature")).base64URL
        let routes = try await Self.routes(ProviderKey.set(key))
        #expect(Self.offer(routes, token).status == 200, "\(routes.log.text)")
    }

    @Test(
        "claims are accepted in every permitted form, and unknown claims are ignored",
        arguments: [
            ["aud": #"["another","com.example.offers"]"#], ["exp": "9007199254740.992"], ["exp": "\(now + 1)"],
            ["exp": "\(now).001"],
            ["exp": "1.9e9"], ["nbf": "\(now + 60)"], ["iat": "\(now)", "nbf": "\(now)"], ["iat": "\(now + 59).5"],
            ["roles": "[{}]", "jti": "null"], ["sub": #""\u006darked-user""#],
        ] as [[String: String?]])
    func goodClaims(changes: [String: String?]) async throws {
        let key = ProviderKey()
        let routes = try await Self.routes(ProviderKey.set(key))
        let answer = Self.offer(routes, try key.token(claims: Self.claims(changes)))
        #expect(answer.json["applicationUsername"] as? String == "marked-user", "\(routes.log.text)")
    }

    @Test(
        "typ can be absent, JWT or at+jwt, in any letter case and with or without application/",
        arguments: [
            #""typ":"application/at+jwt""#, #""typ":"application/JWT""#, #""typ":"JWT""#, #""typ":"jwt""#,
            #""typ":"at+jwt""#, #""typ":"AT+JWT""#, #""x":1"#,
        ])
    func goodTypes(member: String) async throws {
        let key = ProviderKey()
        let routes = try await Self.routes(ProviderKey.set(key))
        let header = #"{"alg":"ES256","kid":"key-1",\#(member)}"#
        #expect(Self.offer(routes, try key.token(header: header, claims: Self.claims())).status == 200)
    }

    @Test(
        "a token with an invalid claim is refused",
        arguments: [
            (["iss": #""https://id.example.com""#], "its iss"), (["iss": #""HTTPS://id.example.com/""#], "its iss"),
            (["iss": nil], "its iss"), (["iss": #"["https://id.example.com/"]"#], "its iss"),
            (["aud": #""com.example.other""#], "its aud"), (["aud": nil], "its aud"), (["aud": "[]"], "its aud"),
            (["aud": #""Com.example.offers""#], "its aud"), (["aud": #"["com.example.offers",1]"#], "its aud"),
            (["aud": #"[["com.example.offers"]]"#], "its aud"), (["aud": "null"], "its aud"),
            (["aud": #""com.example.offers,x""#], "its aud"), (["aud": #"{"com.example.offers":1}"#], "its aud"),
            (["exp": nil], "no exp"), (["exp": "null"], "no exp"), (["exp": #""\#(now + 600)""#], "no exp"),
            (["exp": "1e999"], "no exp"), (["exp": "9007199254741"], "no exp"), (["exp": "1e300"], "no exp"),
            (["exp": "1.7e308"], "no exp"), (["nbf": "-1e300"], "nbf or iat"),
            (["events": "{}"], "has events"), (["events": "null"], "has events"),
            (["exp": "true"], "no exp"), (["exp": "\(now)"], "expired"),
            (["exp": "\(now - 1)"], "expired"), (["exp": "0"], "expired"), (["exp": "-1"], "expired"),
            (["nbf": "\(now + 61)"], "nbf or iat"), (["iat": "\(now + 61)"], "nbf or iat"),
            (["nbf": "null"], "nbf or iat"), (["iat": #""0""#], "nbf or iat"), (["nbf": "1e999"], "nbf or iat"),
            (["sub": nil], "the customer"), (["sub": #""""#], "the customer"), (["sub": "1"], "the customer"),
            (["sub": "null"], "the customer"), (["sub": #""marked\u2063""#], "the customer"),
            (["sub": "\"\(String(repeating: "x", count: 513))\""], "the customer"),
        ] as [([String: String?], String)])
    func badClaims(changes: [String: String?], reason: String) async throws {
        let key = ProviderKey()
        let routes = try await Self.routes(ProviderKey.set(key))
        Self.expectRefusal(routes, try key.token(claims: Self.claims(changes)), reason)
    }

    @Test(
        "a validly signed token with an invalid header is refused",
        arguments: [
            (#"{"alg":"none","kid":"key-1"}"#, "its alg"), (#"{"alg":"None","kid":"key-1"}"#, "its alg"),
            (#"{"alg":"es256","kid":"key-1"}"#, "its alg"), (#"{"alg":"ES384","kid":"key-1"}"#, "no key"),
            (#"{"alg":"HS256","kid":"key-1"}"#, "its alg"), (#"{"alg":"","kid":"key-1"}"#, "its alg"),
            (#"{"alg":"ES256 ","kid":"key-1"}"#, "its alg"), (#"{"kid":"key-1"}"#, "no alg"),
            (#"{"alg":["ES256"],"kid":"key-1"}"#, "no alg"), (#"{"alg":null,"kid":"key-1"}"#, "no alg"),
            (#"{"alg":"RS256","kid":"key-1"}"#, "no key"), (#"{"alg":"ES256","kid":"key-2"}"#, "no key"),
            (#"{"alg":"ES256","kid":"KEY-1"}"#, "no key"), (#"{"alg":"ES256","kid":""}"#, "no key"),
            (#"{"alg":"ES256","kid":"../key-1"}"#, "no key"), (#"{"alg":"ES256","kid":1}"#, "its kid"),
            (#"{"alg":"ES256","kid":null}"#, "its kid"), (#"{"alg":"ES256","kid":"key-1","crit":["exp"]}"#, "crit"),
            (#"{"alg":"ES256","kid":"key-1","crit":[]}"#, "crit"),
            (#"{"alg":"ES256","kid":"key-1","b64":false}"#, "b64"),
            (#"{"alg":"ES256","kid":"key-1","b64":true}"#, "b64"),
            (#"{"alg":"ES256","kid":"key-1","typ":"logout+jwt"}"#, "its typ"),
            (#"{"alg":"ES256","kid":"key-1","typ":null}"#, "its typ"),
            (#"{"alg":"ES256","kid":"key-1","typ":"application/logout+jwt"}"#, "its typ"),
            (#"{"alg":"ES256","kid":"key-1","typ":"application/"}"#, "its typ"),
            (#"{"alg":"ES256","kid":"key-1","typ":"secevent+jwt"}"#, "its typ"),
            (#"{"alg":"ES256","kid":"key-1","typ":""}"#, "its typ"),
            (#"{"alg":"ES256","alg":"ES256","kid":"key-1"}"#, "its header"),
            (#"{"alg":"none","kid":"key-1","\u0061lg":"ES256"}"#, "its header"),
            (#"{"alg":"ES256","kid":"key-1",}"#, "its header"), (#"{"alg":"ES256","kid":"key-1"} x"#, "its header"),
            ("\u{FEFF}{\"alg\":\"ES256\",\"kid\":\"key-1\"}", "its header"), ("[]", "its header"), ("1", "its header"),
        ])
    func badHeaders(header: String, reason: String) async throws {
        let key = ProviderKey()
        let routes = try await Self.routes(ProviderKey.set(key))
        Self.expectRefusal(routes, try key.token(header: header, claims: Self.claims()), reason)
    }

    @Test("a validly signed token whose claims are not a single JSON object is refused")
    func unreadableClaims() async throws {
        let key = ProviderKey()
        let routes = try await Self.routes(ProviderKey.set(key))
        for claims in [
            "[]", "null", "x", String(Self.claims().dropLast()), Self.claims() + "x",
            Self.claims(["sub": #""a","sub":"marked-user""#]), Self.claims(["aud": #""x","aud":"com.example.offers""#]),
            Self.claims(["sub": "\"\u{0}\""]),
        ] {
            Self.expectRefusal(routes, try key.token(claims: claims), "its claims")
        }
    }

    @Test("a token with a flipped bit or a swapped, truncated, padded or re-encoded part is refused")
    func tampering() async throws {
        let key = ProviderKey()
        let routes = try await Self.routes(ProviderKey.set(key))
        let token = try key.token(claims: Self.claims())
        #expect(Self.offer(routes, token).status == 200)
        var decoded = token.split(separator: ".").map { Data(base64URL: String($0)) ?? Data() }
        for part in 0..<3 {
            for bit in 0..<decoded[part].count * 8 {
                decoded[part][bit / 8] ^= 1 << UInt8(bit % 8)
                let turned = decoded.map(\.base64URL).joined(separator: ".")
                #expect(Self.offer(routes, turned).status == 401, "bit \(bit) of part \(part)")
                decoded[part][bit / 8] ^= 1 << UInt8(bit % 8)
            }
        }
        // Also change each character of the text, because the last one of a part can have unused bits.
        let characters = Array(token)
        for index in characters.indices where characters[index] != "." {
            var other = characters
            other[index] = other[index] == "A" ? "B" : "A"
            #expect(Self.offer(routes, String(other)).status == 401, "character \(index)")
        }
        let parts = token.split(separator: ".").map(String.init)
        let another = try key.token(claims: Self.claims(["sub": #""other""#])).split(separator: ".").map(String.init)
        let (h, p, s) = (parts[0], parts[1], parts[2])
        for bad in [
            "\(p).\(h).\(s)", "\(h).\(another[1]).\(s)", "\(h).\(p).\(another[2])", "\(h).\(p).", "\(h)..\(s)",
            ".\(p).\(s)", "..", "\(h).\(p)", "\(h).\(p).\(s).", ".\(h).\(p).\(s)", "\(h).\(p).\(s).\(s)",
            "\(h).\(p).\(s)=", "\(h).\(p).\(s)==", "\(h)=.\(p).\(s)", "\(h).\(p).\(s)A", "\(h).\(p).\(s)AA",
            "\(h).\(p).\(s.dropLast())", "\(h).\(p).\(s)\n", "\(h) .\(p).\(s)", "\(h).\(p).+/\(s.dropFirst(2))",
            "\(h).\(p).\(String(repeating: "A", count: 86))", "\(h).\(p).AAAA", "\(h).\(p).é\(s)",
        ] {
            #expect(Self.offer(routes, bad).status == 401, "\(bad)")
        }
        #expect(!routes.log.text.contains("marked") && !routes.log.text.contains(p.prefix(12)))
    }

    @Test("unused bits in a token's last character must be zero")
    func canonical() async throws {
        let key = ProviderKey()
        let routes = try await Self.routes(ProviderKey.set(key))
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let token = try key.token(claims: Self.claims())
        let last = try #require(token.last.flatMap { alphabet.firstIndex(of: $0) })
        // A P-256 signature has 64 bytes, so four bits of its 86th and last character must be zero.
        try #require(last % 16 == 0)
        for bits in 1..<16 { Self.expectRefusal(routes, "\(token.dropLast())\(alphabet[last + bits])", "base64url") }
        #expect(Self.offer(routes, token).status == 200)
    }

    @Test("a token signed with the public key as an HMAC secret is refused, however the key is encoded")
    func confusion() async throws {
        for algorithm in ["RS256", "ES256"] {
            let key = try ProviderKey.make(for: algorithm)
            let routes = try await Self.routes(ProviderKey.set(key))
            var forms = [Data(try key.jwk().utf8), Data(try ProviderKey.set(key).utf8), Data()]
            switch key.kind {
            case .rsa(let key):
                forms += [Data(key.publicKey.pemRepresentation.utf8), key.publicKey.derRepresentation]
            case .p256(let key):
                forms += [
                    Data(key.publicKey.pemRepresentation.utf8), key.publicKey.derRepresentation,
                    key.publicKey.x963Representation, key.publicKey.rawRepresentation,
                ]
            default: break
            }
            for (form, name) in forms.flatMap({ form in ["HS256", algorithm].map { (form, $0) } }) {
                let header = #"{"alg":"\#(name)","kid":"key-1"}"#
                let message = Data(header.utf8).base64URL + "." + Data(Self.claims().utf8).base64URL
                let code = HMAC<Crypto.SHA256>.authenticationCode(
                    for: Data(message.utf8), using: SymmetricKey(data: form))
                Self.expectRefusal(
                    routes, message + "." + Data(code).base64URL, name == "HS256" ? "its alg" : "its signature")
            }
        }
    }

    @Test("a key from the token itself or from another provider is not trusted")
    func foreignKeys() async throws {
        let (key, foreign) = (ProviderKey(), ProviderKey())
        let routes = try await Self.routes(ProviderKey.set(key))
        for member in [
            #""jwk":\#(try foreign.jwk())"#, #""jku":"https://evil.example.com/jwks.json""#,
            #""x5u":"https://evil.example.com/""#, #""x5c":["AAAA"]"#,
        ] {
            let header = #"{"alg":"ES256","kid":"key-1",\#(member)}"#
            Self.expectRefusal(routes, try foreign.token(header: header, claims: Self.claims()), "its signature")
            #expect(
                Self.offer(routes, try key.token(header: header, claims: Self.claims())).status == 200, "key ignored")
        }
        Self.expectRefusal(routes, try foreign.token(claims: Self.claims()), "its signature")

        // Two providers use the same key ID. Each key is trusted only for its own issuer.
        let other = "https://other.example.com/"
        let both = try await Self.routes(ProviderKey.set(key), Self.issuer(), Self.issuer(other))
        let set = try await KeySetReader { _, _ in KeySetText([]) }.keys(
            in: Array(ProviderKey.set(foreign).utf8), from: .file(path: other)
        ).set
        both.userKeys.replace(set, of: try Self.issuer(other))
        Self.expectRefusal(both, try key.token(claims: Self.claims(["iss": "\"\(other)\""])), "its signature")
        Self.expectRefusal(both, try foreign.token(claims: Self.claims()), "its signature")
        #expect(Self.offer(both, try foreign.token(claims: Self.claims(["iss": "\"\(other)\""]))).status == 200)
    }

    @Test("an algorithm is refused unless both the issuer and the key allow it")
    func algorithms() async throws {
        let rsa = try ProviderKey.make(for: "RS256")
        let onlyRS = try await Self.routes(ProviderKey.set(rsa), Self.issuer(algorithms: [.rs256]))
        #expect(Self.offer(onlyRS, try rsa.token("RS256", claims: Self.claims())).status == 200)
        for other in ["RS384", "RS512", "PS256"] {
            Self.expectRefusal(onlyRS, try rsa.token(other, claims: Self.claims()), "its alg")
        }
        let keyForPS = try await Self.routes(ProviderKey.set([rsa.jwk(["alg": "PS256"])]))
        Self.expectRefusal(keyForPS, try rsa.token("RS256", claims: Self.claims()), "no key")
        #expect(Self.offer(keyForPS, try rsa.token("PS256", claims: Self.claims())).status == 200)
        // A signature made with one algorithm but labelled with another.
        let header = #"{"alg":"PS256","kid":"key-1"}"#
        Self.expectRefusal(keyForPS, try rsa.token("RS256", header: header, claims: Self.claims()), "its signature")
    }

    @Test("a token without kid is accepted only if exactly one key fits")
    func withoutName() async throws {
        let (one, other) = (ProviderKey(), ProviderKey(kid: "key-2"))
        let token = try one.token(header: #"{"alg":"ES256"}"#, claims: Self.claims())
        #expect(Self.offer(try await Self.routes(ProviderKey.set(one)), token).status == 200)
        Self.expectRefusal(try await Self.routes(ProviderKey.set(one, other)), token, "no key")
        let nameless = ProviderKey(one.kind, kid: nil)
        let routes = try await Self.routes(ProviderKey.set(nameless))
        #expect(Self.offer(routes, token).status == 200)
        Self.expectRefusal(routes, try one.token(claims: Self.claims()), "no key")
    }

    @Test("EdDSA and Ed25519 (RFC 9864) name the same algorithm in tokens and keys")
    func ed25519() async throws {
        let key = try ProviderKey.make(for: "EdDSA")
        for ofKey in ["EdDSA", "Ed25519", nil] {
            let set = ProviderKey.set([try key.jwk(["alg": ofKey])])
            let routes = try await Self.routes(set, Self.issuer(algorithms: [.edDSA]))
            let without = try await Self.routes(set, Self.issuer(algorithms: TokenAlgorithm.usual))
            for name in ["EdDSA", "Ed25519"] {
                let header = #"{"alg":"\#(name)","kid":"key-1"}"#
                let token = try key.token("EdDSA", header: header, claims: Self.claims())
                #expect(Self.offer(routes, token).status == 200, "\(routes.log.text)")
                Self.expectRefusal(without, token, "its alg")
            }
            let header = #"{"alg":"ed25519","kid":"key-1"}"#
            Self.expectRefusal(routes, try key.token("EdDSA", header: header, claims: Self.claims()), "its alg")
        }
    }

    @Test("a token can have more than 500 claims, 1024 elements in a claim and 16 nesting levels")
    func manyClaims() async throws {
        let key = ProviderKey()
        let routes = try await Self.routes(ProviderKey.set(key))
        func status(_ name: String, _ value: String) throws -> Int {
            Self.offer(routes, try key.token(claims: Self.claims([name: value]))).status
        }
        func list(_ count: Int) -> String { "[" + (0..<count).map { _ in "1" }.joined(separator: ",") + "]" }
        #expect(try status("groups", list(1024)) == 200)
        #expect(try status("groups", list(1025)) == 401)
        func members(_ count: Int) -> String { (0..<count).map { #""\#($0)":1"# }.joined(separator: ",") }
        // Four claims are always present.
        #expect(try status("x", "1,\(members(500))") == 200)
        #expect(try status("x", "1,\(members(100)),\"99\":2") == 401, "a duplicate name")
        #expect(try status("x", String(repeating: "[", count: 15) + String(repeating: "]", count: 15)) == 200)
        #expect(try status("x", String(repeating: "[", count: 16) + String(repeating: "]", count: 16)) == 401)
    }

    @Test("an ECDSA signature with s negated also verifies")
    func twin() async throws {
        let key = ProviderKey()
        let routes = try await Self.routes(ProviderKey.set(key))
        let token = try key.token(claims: Self.claims())
        let parts = token.split(separator: ".").map(String.init)
        var signature = try #require(Data(base64URL: parts[2]).map { [UInt8]($0) })
        // The order n of P-256 (SEC 2 section 2.4.2).
        let order = try #require(
            Hexadecimal.bytes(of: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", count: 32))
        var borrow = 0
        for index in (0..<32).reversed() {
            let difference = Int(order[index]) - Int(signature[32 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            signature[32 + index] = UInt8(difference + 256 * borrow)
        }
        let twin = [parts[0], parts[1], Data(signature).base64URL].joined(separator: ".")
        #expect(twin != token)
        #expect(Self.offer(routes, twin).status == 200, "a token's text is therefore not a unique ID")
    }

    @Test("an empty key set, which an unusable set leaves behind, causes a 503")
    func emptySet() async throws {
        let routes = try TestService(userIssuers: [Self.issuer()])
        routes.userKeys.replace(UserKeySet([]), of: try Self.issuer())
        let answer = Self.offer(routes, try ProviderKey().token(claims: Self.claims()))
        #expect(answer.status == 503 && answer.json["code"] as? String == "users_unavailable")
    }

    @Test("only an unknown kid triggers a fetch")
    func requestedAgain() async throws {
        let (key, issuer) = (ProviderKey(), try Self.issuer())
        let routes = try await Self.routes(ProviderKey.set(key))
        _ = Self.offer(routes, try key.token(claims: Self.claims()))
        _ = Self.offer(routes, try ProviderKey().token(claims: Self.claims()))
        _ = Self.offer(routes, try ProviderKey(kid: "new").token(claims: Self.claims(["iss": #""x""#])))
        #expect(!routes.userKeys.isRefreshRequested(of: issuer))
        _ = Self.offer(routes, try ProviderKey(kid: "new").token(claims: Self.claims()))
        #expect(routes.userKeys.isRefreshRequested(of: issuer))
    }

    @Test("a token over 8 kB is refused without parsing; one just below the limit is accepted")
    func size() async throws {
        let key = ProviderKey()
        let routes = try await Self.routes(ProviderKey.set(key))
        func token(_ count: Int) throws -> String {
            try key.token(claims: Self.claims(["x": "\"\(String(repeating: "x", count: count))\""]))
        }
        let least = try token(0).utf8.count
        let fitting = try token((8192 - least) * 3 / 4 - 2)
        #expect(fitting.utf8.count <= 8192 && fitting.utf8.count > 8180)
        #expect(Self.offer(routes, fitting).status == 200)
        Self.expectRefusal(routes, try token((8192 - least) * 3 / 4 + 3), "larger than 8 kB")
        Self.expectRefusal(routes, try token(1_000_000), "larger than 8 kB")
        Self.expectRefusal(routes, "." + String(repeating: "A", count: 1_000_000) + ".", "larger than 8 kB")
    }

    @Test("a plausible token gets a 503 until the keys have been fetched")
    func noKeys() throws {
        let routes = try TestService(userIssuers: [Self.issuer()])
        let answer = Self.offer(routes, try ProviderKey().token(claims: Self.claims()))
        #expect(answer.status == 503 && answer.json["code"] as? String == "users_unavailable")
        #expect(answer.headers.contains { $0.name == "Retry-After" })
        Self.expectRefusal(routes, try ProviderKey().token(claims: Self.claims(["iss": #""x""#])), "its iss")
        #expect(routes.post("/offer", Self.body).status == 401, "with users configured, every request needs a token")
    }

    @Test("an issuer whose users are named by their e-mail addresses has one warning, which names hashedUsername")
    func emailAddress() async throws {
        let key = ProviderKey()
        let routes = try await Self.routes(ProviderKey.set(key), Self.issuer(customer: .applicationUsername("email")))
        for name in ["a", "b"] {
            let token = try key.token(claims: Self.claims(["email": "\"\(name)@marked.example\""]))
            #expect(Self.offer(routes, token).status == 200)
        }
        let lines = routes.log.lines(with: "is an e-mail address")
        #expect(lines.count == 1 && lines[0].contains("hashedUsername"), "\(lines)")
        #expect(!routes.log.text.contains("marked"))
    }

    @Test("the username is the claim or its HMAC, and an account UUID is lowercased")
    func customers() async throws {
        let key = ProviderKey()
        let set = try ProviderKey.set(key)
        let salt = "a salt of enough bytes"
        let hashed = try await Self.routes(set, Self.issuer(customer: .hashedUsername("sub")), salt: salt)
        for user in ["marked-user", "ü", String(repeating: "x", count: 3000)] {
            let answer = Self.offer(hashed, try key.token(claims: Self.claims(["sub": "\"\(user)\""])))
            let code = HMAC<Crypto.SHA256>.authenticationCode(
                for: Data(user.utf8), using: SymmetricKey(data: Data(salt.utf8)))
            #expect(answer.json["applicationUsername"] as? String == Hexadecimal.text(of: Array(code)))
        }
        for blank in [#""""#, #"" ""#, #""\t\n""#, "\"\u{2003}\u{3000}\""] {
            Self.expectRefusal(hashed, try key.token(claims: Self.claims(["sub": blank])), "the customer")
        }
        #expect(!hashed.log.text.contains(salt))

        let uuid = try await Self.routes(set, Self.issuer(customer: .appAccountToken("account")))
        let account = "D3B07384-D113-4EC6-A7B1-6F1C2F5E9B10"
        let answer = Self.offer(uuid, try key.token(claims: Self.claims(["account": "\"\(account)\""])))
        #expect(answer.json["appAccountToken"] as? String == account.lowercased())
        #expect(answer.json["applicationUsername"] == nil)
        for bad in [nil, #""""#, #""x""#, "1", #""\#(account)0""#] as [String?] {
            Self.expectRefusal(uuid, try key.token(claims: Self.claims(["account": bad])), "the customer")
        }
    }

    @Test("the customer comes from the token; a body can repeat it but cannot name another")
    func bodies() async throws {
        let key = ProviderKey()
        let account = "d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10"
        let token = try key.token(claims: Self.claims(["account": "\"\(account)\""]))
        func body(_ member: String) -> String {
            #"{"appBundleID":"a","productIdentifier":"p","offerID":"o",\#(member)}"#
        }
        let name = try await Self.routes(ProviderKey.set(key))
        let uuid = try await Self.routes(ProviderKey.set(key), Self.issuer(customer: .appAccountToken("account")))
        #expect(Self.offer(name, token, body(#""applicationUsername":"marked-user""#)).status == 200)
        #expect(Self.offer(uuid, token, body(#""appAccountToken":"\#(account.uppercased())""#)).status == 200)
        for (routes, member) in [
            (name, #""applicationUsername":"Marked-user""#), (name, #""applicationUsername":"""#),
            (name, #""applicationUsername":"marked-user ""#), (name, #""appAccountToken":"\#(account)""#),
            (uuid, #""applicationUsername":"\#(account)""#), (uuid, #""applicationUsername":"""#),
            (uuid, #""appAccountToken":"00000000-d113-4ec6-a7b1-6f1c2f5e9b10""#),
        ] {
            let answer = Self.offer(routes, token, body(member))
            #expect(answer.status == 403 && answer.json["code"] as? String == "customer_not_yours", "\(member)")
            #expect(answer.json["signature"] == nil)
        }
        #expect(Self.offer(name, token, body(#""applicationUsername":null"#)).status == 400)
        #expect(
            Self.offer(name, token, body(#""applicationUsername":"marked-user","appAccountToken":"\#(account)""#))
                .status
                == 400)

        // The signature covers the username from the token.
        let pair = try Fixtures.makeSigningKey()
        let own = try TestService(pair: pair, userIssuers: [Self.issuer()])
        let set = try await KeySetReader { _, _ in KeySetText([]) }.keys(
            in: Array(ProviderKey.set(key).utf8), from: .file(path: Self.issuer)
        ).set
        own.userKeys.replace(set, of: try Self.issuer())
        let answer = Self.offer(own, token)
        let fields = [
            "a", "TESTKEY123", "p", "o", "marked-user", try #require(answer.json["nonce"] as? String),
            "\(Fixtures.timestamp.milliseconds)",
        ]
        let signature = try #require((answer.json["signature"] as? String).flatMap { Data(base64Encoded: $0) })
        #expect(
            try pair.verifyingKey.verify([UInt8](signature), of: Array(fields.joined(separator: "\u{2063}").utf8)))
    }

    @Test("a user gets offers only for the issuer's apps; caller tokens keep working")
    func besideCallers() async throws {
        let key = ProviderKey()
        let caller = try Caller.test("backend", [.sign], token: "a.caller.token")
        let routes = try await Self.routes(
            ProviderKey.set(key), Self.issuer(apps: ["b"]), callers: [caller])
        let token = try key.token(claims: Self.claims())
        #expect(Self.offer(routes, token).json["code"] as? String == "offer_not_served")
        #expect(routes.log.text.contains("a user of https://id.example.com/"))
        #expect(Self.offer(routes, token, Self.body.replacing(#":"a""#, with: #":"b""#)).status == 200)
        #expect(Self.offer(routes, "a.caller.token").json["code"] as? String == "missing_field")
        let named = Self.body.dropLast() + #","applicationUsername":"u"}"#
        let answer = Self.offer(routes, "a.caller.token", String(named))
        #expect(answer.status == 200 && Set(answer.json.keys) == ["keyID", "nonce", "timestamp", "signature"])
        #expect(Self.offer(routes, "another").status == 401)
    }
}

extension Data {
    /// - Parameter text: base64url without padding.
    fileprivate init?(base64URL text: String) {
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        self.init(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4))
    }
}
