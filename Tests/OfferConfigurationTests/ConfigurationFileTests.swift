import OfferCore
import OfferCrypto
import OfferEligibility
import OfferKeys
import TestSupport
import Testing

@testable import OfferConfiguration

@Suite("Configuration file")
struct ConfigurationFileTests {
    private static func read(_ text: String) -> (file: ConfigurationFile, problems: [Diagnostic]) {
        ConfigurationFile.read(Array(text.utf8), name: "a.yaml")
    }

    private static let digest = String(repeating: "3b", count: 32)
    private static let otherDigest = String(repeating: "4c", count: 32)

    private static let good = """
        apps:
          - bundleID: com.example.app
            keyID: 2X9R4HXF34
            issuerID: \(Fixtures.issuerText.uppercased())
            allowUnboundJWS: true
            appAppleID: 1234567890
            products:
              - productID: com.example.app.pro.monthly
                offers: [retention_50off_3m, "007"]
              - productID: com.example.app.pro.yearly
                offers: [winback]
          - bundleID: com.example.other
            products: []
        callers:
          - name: backend
            tokenSHA256: \(digest)
          - name: support
            tokenSHA256: \(String(repeating: "00", count: 32))
            scopes: [explain]
            apps: [com.example.app]
            expires: 2027-01-31
        users:
          - issuer: https://id.example.com/
            audience: com.example.offers
            jwks: https://id.example.com/jwks.json
            applicationUsername: sub
            sharesCustomers: true
          - issuer: another
            audience: com.example.offers
            jwks: http://[::1]:8000/jwks.json
            algorithms: [PS256, EdDSA]
            appAccountToken: account
            apps: [com.example.app]
            sharesCustomers: true
          - issuer: in a file
            audience: com.example.offers
            jwks: keys/jwks.json
            hashedUsername: "1"
            sharesCustomers: true
        limits:
          tokens: {perSecond: 500, burst: 1000}
          users: off
          customers: {perSecond: 0.5, burst: 1}
          explanations: {perSecond: 10, burst: 300}
        """

    @Test("the file's settings are read, and strings are kept exactly as written")
    func good() throws {
        let (file, problems) = Self.read(Self.good)
        #expect(problems == [])
        #expect(file.limits.tokens == RateLimit(perSecond: 500, burst: 1000))
        #expect(file.limits.customers == RateLimit(perSecond: 0.5, burst: 1))
        #expect(file.limits.explanations == RateLimit(perSecond: 10, burst: 300))
        #expect(Self.read("limits: {explanations: off}").file.limits.explanations == nil)
        #expect(file.limits.users == nil && file.limits.addresses == Limits().addresses)
        let app = try BundleID(utf8: Array("com.example.app".utf8))
        #expect(file.keyIDs.count == 1 && file.keyIDs[app]?.description == "2X9R4HXF34")
        let catalogue = try #require(file.catalogue)
        #expect(catalogue.apps.count == 2 && catalogue.apps[app]?.appAppleID == 1_234_567_890)
        let product = try ProductID(utf8: Array("com.example.app.pro.monthly".utf8))
        let item = CatalogueItem(app: app, product: product, offer: try OfferID(utf8: Array("007".utf8)))
        #expect(throws: Never.self) { try catalogue.require(item) }
        #expect(file.issuerIDs == [app: try Fixtures.issuerID()])
        #expect(catalogue.apps.mapValues(\.allowsUnboundJWS).filter(\.value).keys.elementsEqual([app]))
        #expect(file.callers.map(\.name) == ["backend", "support"])
        #expect(file.callers[0].scopes == [.sign] && file.callers[0].apps == nil)
        #expect(file.callers[1].scopes == [.explain] && file.callers[1].apps == [app])
        #expect(file.callers[1].expiry?.milliseconds == 1_801_353_600_000)
        let users = file.userIssuers
        #expect(users.map(\.name) == ["https://id.example.com/", "another", "in a file"])
        #expect(
            users.map(\.keys) == [
                .url("https://id.example.com/jwks.json"), .url("http://[::1]:8000/jwks.json"),
                .file(path: "keys/jwks.json"),
            ])
        #expect(users.map(\.algorithms) == [[.es256, .rs256], [.ps256, .edDSA], [.es256, .rs256]])
        #expect(
            users.map(\.customer) == [.applicationUsername("sub"), .appAccountToken("account"), .hashedUsername("1")])
        #expect(users.map(\.apps) == [nil, [app], nil])
        #expect(users.allSatisfy { $0.audience == Array("com.example.offers".utf8) })
    }

    @Test(
        "a problem is reported with its line number",
        arguments: [
            ("", nil), ("apps", 1), ("apps: []\nshops: []", 2), ("apps: []\napps: []", 1), ("- a", 1), ("apps: {}", 1),
            ("apps:\n  - bundleID: a", 2), ("apps:\n  - products: []", 2), ("apps:\n- bundleID: \n  products: []", 2),
            ("apps:\n- bundleID: a\n  products: []\n- bundleID: A\n  products: []", 4),
            ("apps:\n- bundleID: \"a\\u2063\"\n  products: []", 2),
            ("apps:\n- bundleID: a\n  keyID: a-b\n  products: []", 3),
            ("apps:\n- bundleID: a\n  keyFingerprint: \(digest)\n  products: []", 3),
            ("apps:\n- bundleID: a\n  keyID: A\n  keyFingerprint: \(digest)0\n  products: []", 4),
            (
                "apps:\n- {bundleID: a, products: [], keyID: A, keyFingerprint: \(digest)}\n"
                    + "- {bundleID: b, products: [], keyID: A, keyFingerprint: \(otherDigest)}",
                3
            ),
            ("apps:\n- bundleID: a\n  appAppleID: x\n  products: []", 3),
            ("apps:\n- bundleID: a\n  appStoreID: 5\n  products: []", 3),
            ("apps:\n- {bundleID: a, appAppleID: 5, products: []}\n- {bundleID: b, appAppleID: 5, products: []}", 3),
            ("apps:\n- bundleID: a\n  track: []\n  products: []", 3),
            ("apps:\n- bundleID: a\n  track: b\n  products: []", 3),
            ("apps:\n- bundleID: a\n  track:\n  - b\n  - ''\n  products: []", 5),
            ("apps:\n- bundleID: a\n  track:\n  - b\n  - b\n  products: []", 5),
            ("apps:\n- bundleID: a\n  track: [a, b, c, d, e, f, g, h, i]\n  products: []", 3),
            ("apps:\n- bundleID: a\n  environments: []\n  products: []", 3),
            ("apps:\n- bundleID: a\n  environments: Sandbox\n  products: []", 3),
            ("apps:\n- bundleID: a\n  environments: [sandbox]\n  products: []", 3),
            ("apps:\n- bundleID: a\n  environments: [Sandbox, Production]\n  products: []", 3),
            ("apps:\n- bundleID: a\n  issuerID: 57246542\n  products: []", 3),
            ("apps:\n- bundleID: a\n  allowUnboundJWS: yes\n  products: []", 3),
            ("apps:\n- bundleID: a\n  allowUnboundJWS: \"true\"\n  products: []", 3),
            ("apps:\n- bundleID: a\n  products:\n  - productID: p\n    offers: [o, o]", 5),
            ("apps:\n- bundleID: a\n  products:\n  - {productID: p, offers: []}\n  - {productID: p, offers: []}", 5),
            ("apps:\n- bundleID: a\n  products:\n  - {productID: p, offers: o}", 4),
            ("apps:\n- bundleID: a\n  products:\n  - {productID: p, ofers: []}", 4),
            ("limits: 5", 1), ("limits:\n  tokens: on", 2), ("limits:\n  tokens: {perSecond: 1}", 2),
            ("limits:\n  users: {perSecond: 0, burst: 1}", 2), ("limits:\n  users: {perSecond: 1, burst: 0.5}", 2),
            ("limits:\n  users: {perSecond: nan, burst: 1}", 2), ("limits:\n  user: off", 2),
            ("{}", 1), ("apps: []", 1), ("callers: []", 1),
            ("callers:", 1), ("callers:\n- name: a\n  tokenSHA256: 00", 3),
            ("callers:\n- name: a", 2),
            ("callers:\n- {name: a, tokenSHA256: \(digest), scopes: [read]}", 2),
            ("callers:\n- name: a\n  tokenSHA256: \(digest)\n  expires: 2027-02-30", 4), ("apps: [", nil),
            ("a: b: c", 1),
            ("apps: []\n\tx: 1", nil),
        ] as [(String, Int?)])
    func faults(text: String, line: Int?) {
        let problems = Self.read(text).problems
        #expect(!problems.isEmpty)
        if let line {
            #expect(problems.contains { $0.error.hasPrefix("a.yaml, line \(line)") }, "\(problems)")
        }
    }

    @Test("the facts to track are read, and need a database")
    func tracked() throws {
        let (file, problems) = Self.read("apps: [{bundleID: a, products: [], track: [episodesWatched, plan]}]")
        #expect(problems.isEmpty && file.needsStore)
        let app = try #require(file.catalogue?.apps.values.first)
        #expect(app.tracked.map(\.description).sorted() == ["episodesWatched", "plan"])
    }

    @Test("a number of connections that is not a limit is refused with a hint that names the member")
    func connections() {
        for text in ["0", "1000001", "-1", "1.5", "{perSecond: 1, burst: 1}"] {
            let problems = Self.read("limits: {connections: \(text)}").problems
            #expect(problems.count == 1)
            #expect(problems.first?.hint == "set connections to a whole number from 1 to 1000000, or off")
        }
    }

    @Test(
        "a problem with users is reported with its line number",
        arguments: [
            ("users: []", 1), ("users:\n- {}", 2), ("users:\n- issuer: a", 2),
            ("users:\n- {issuer: a, audience: b, jwks: c}", 2),
            ("users:\n- {issuer: a, audience: b, jwks: c, applicationUsername: d, hashedUsername: d}", 2),
            ("users:\n- {issuer: a, audience: b, jwks: c, applicationUsername: }", 2),
            ("users:\n- {issuer: a, audience: b, jwks: c, applicationUsername: ''}", 2),
            ("users:\n- {issuer: a, audience: b, jwks: c, user: d}", 2),
            ("users:\n- {issuer: '', audience: b, jwks: c, applicationUsername: d}", 2),
            ("users:\n- {issuer: \"a\\n\", audience: b, jwks: c, applicationUsername: d}", 2),
            ("users:\n- {issuer: a, audience: [b], jwks: c, applicationUsername: d}", 2),
            ("users:\n- {issuer: a, audience: b, jwks: '', applicationUsername: d}", 2),
            ("users:\n- issuer: a\n  audience: b\n  jwks: c\n  applicationUsername: d\n  algorithms: []", 6),
            ("users:\n- issuer: a\n  audience: b\n  jwks: c\n  applicationUsername: d\n  algorithms: [none]", 6),
            ("users:\n- issuer: a\n  audience: b\n  jwks: c\n  applicationUsername: d\n  algorithms: [HS256]", 6),
            ("users:\n- issuer: a\n  audience: b\n  jwks: c\n  applicationUsername: d\n  algorithms: [es256]", 6),
            (
                "users:\n- {issuer: a, audience: b, jwks: c, applicationUsername: d}\n"
                    + "- {issuer: a, audience: e, jwks: f, applicationUsername: g}", 3
            ),
        ])
    func users(text: String, line: Int) {
        let problems = Self.read(text).problems
        #expect(problems.contains { $0.error.hasPrefix("a.yaml, line \(line)") }, "\(problems)")
    }

    @Test(
        "two issuers for the same app must both set sharesCustomers",
        arguments: [
            ("", "", false), ("apps: [a]", "", false), ("", "apps: [a]", false), ("apps: [a, b]", "apps: [b]", false),
            ("apps: [App]", "apps: [app]", false), ("sharesCustomers: true", "", false),
            ("", "sharesCustomers: true", false), ("sharesCustomers: true", "sharesCustomers: false", false),
            ("sharesCustomers: true", "sharesCustomers: yes", false),
            ("sharesCustomers: true", "sharesCustomers: true", true), ("apps: [a]", "apps: [b]", true),
            ("apps: [a], sharesCustomers: true", "apps: [a, b], sharesCustomers: true", true),
        ])
    func sharing(one: String, other: String, isGood: Bool) {
        let problems = Self.read(
            """
            users:
            - {issuer: a, audience: b, jwks: c, applicationUsername: d, \(one)}
            - {issuer: e, audience: b, jwks: c, hashedUsername: d, \(other)}
            """
        ).problems
        #expect(problems.isEmpty == isGood, "\(problems)")
        #expect(problems.allSatisfy { $0.error.hasPrefix("a.yaml, line 3") })
    }

    @Test(
        "keys are fetched over https, or over http from this machine",
        arguments: [
            ("https://id.example.com", true), ("https://id.example.com:8443/a?b=c", true),
            ("https://[2001:db8::1]/", true),
            ("http://localhost/", true), ("http://127.0.0.1:8000/a", true), ("http://[::1]/", true),
            ("http://id.example.com/", false), ("http://127.0.0.1.example.com/", false), ("http://0.0.0.0/", false),
            ("ftp://id.example.com/", false), ("file:///etc/passwd", false), ("https:///a", false), ("https://", false),
            ("https://user:secret@id.example.com/", false), ("https://id.example.com/#a", false),
            ("https://id .example.com/", false), ("http://localhost@id.example.com/", false), ("HTTPS://a/", false),
        ])
    func urls(url: String, isGood: Bool) {
        let problems = Self.read("users:\n- {issuer: a, audience: b, jwks: '\(url)', applicationUsername: d}").problems
        #expect(problems.isEmpty == isGood, "\(problems)")
        #expect(!"\(problems)".contains("secret"))
    }

    @Test("a hashed username needs a salt of at least sixteen bytes, which is never printed")
    func salt() {
        let file = Self.read("users: [{issuer: a, audience: b, jwks: c, hashedUsername: d}]").file
        for (salt, problems) in [(nil, 1), ("", 1), ("marked-15-bytes", 1), ("marked-16-bytes!", 0)] as [(String?, Int)]
        {
            var environment = ["SUBSCRIPTION_OFFERS_KEY_ID": "A"]
            environment["SUBSCRIPTION_OFFERS_USERNAME_SALT"] = salt
            let (configuration, found) = Configuration.read(flags: .init(), environment: environment, file: file)
            #expect(found.count == problems, "\(found)")
            #expect(!"\(found)\(configuration)".contains("marked"))
            #expect(configuration.callers.usernameSalt?.reveal == (salt == "" ? nil : salt))
            #expect(!configuration.callers.isEmpty, "users count as callers")
        }
        let unused = ["SUBSCRIPTION_OFFERS_KEY_ID": "A", "SUBSCRIPTION_OFFERS_USERNAME_SALT": "short"]
        #expect(Configuration.read(flags: .init(), environment: unused).problems.count == 1)
    }

    @Test("all problems are reported together")
    func allAtOnce() {
        let problems = Self.read(
            "apps:\n- bundleID: a\n  keyID: '-'\n  products:\n  - {productID: '', offers: [1, 1]}\nx: 1"
        ).problems
        #expect(problems.count == 4)
    }

    @Test("an app's key comes from the file unless the environment sets another")
    func keys() throws {
        let file = Self.read(Self.good).file
        let app = try BundleID(utf8: Array("com.example.app".utf8))
        let salt = ["SUBSCRIPTION_OFFERS_USERNAME_SALT": "sixteen or more bytes"]
        for (environment, expected) in [
            ([:], "2X9R4HXF34"), (["SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS": "com.example.app=OWN"], "OWN"),
        ] as [([String: String], String)] {
            let (configuration, problems) = Configuration.read(
                flags: .init(), environment: environment.merging(salt) { $1 }, file: file)
            #expect(problems == [])
            #expect(configuration.keys.wanted.choice.keyID(for: app)?.description == expected)
        }
        let elsewhere = ["SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS": "com.example.nowhere=OWN"].merging(salt) { $1 }
        #expect(Configuration.read(flags: .init(), environment: elsewhere, file: file).problems.count == 1)
    }

    @Test("fingerprints belong to key IDs, from the file or the environment, which must agree")
    func fingerprints() throws {
        let file = Self.read(
            "apps: [{bundleID: a, products: [], keyID: A, keyFingerprint: \(Self.digest.uppercased())}]"
        ).file
        let (a, b) = (try Fixtures.keyID("A"), try Fixtures.keyID("B"))
        let other = String(repeating: "00", count: 32)
        func read(_ keyID: String?, _ fingerprint: String) -> (wanted: WantedKeys, problems: [Diagnostic]) {
            var environment = ["SUBSCRIPTION_OFFERS_KEY_FINGERPRINT": fingerprint]
            environment["SUBSCRIPTION_OFFERS_KEY_ID"] = keyID
            let (configuration, problems) = Configuration.read(flags: .init(), environment: environment, file: file)
            return (configuration.keys.wanted, problems)
        }
        #expect(read("B", "").problems == [])
        #expect(read("B", "").wanted.fingerprints == [a: Self.digest])
        #expect(read("B", other.uppercased()).wanted.fingerprints == [a: Self.digest, b: other])
        #expect(read("A", Self.digest).problems == [])
        #expect(read("A", other).problems.first?.error.contains("different fingerprints") == true)
        #expect(read(nil, other).problems.first?.error.contains("without the key's ID") == true)
        #expect(read("B", "00").problems.first?.error.contains("is not 64 hexadecimal digits") == true)
    }

    @Test("tokens in the environment define callers; an invalid token is reported without its text")
    func tokens() {
        func read(_ tokens: String) -> (configuration: Configuration, problems: [Diagnostic]) {
            Configuration.read(
                flags: .init(),
                environment: ["SUBSCRIPTION_OFFERS_KEY_ID": "A", "SUBSCRIPTION_OFFERS_API_TOKENS": tokens])
        }
        let (configuration, problems) = read("one=secret+token+of+one==,two=another-secret-token")
        #expect(problems == [])
        #expect(read("one=sixteen-letters.").problems == [])
        func name(_ token: String) -> String? {
            configuration.callers.caller(
                tokenDigest: (try? SHA256.hash(Array(token.utf8))) ?? [],
                at: Fixtures.timestamp)?.name
        }
        #expect(
            name("secret+token+of+one==") == "one" && name("another-secret-token") == "two"
                && name("secret+token+of+one") == nil && name("") == nil)
        for tokens in [
            "c2VjcmV0dG9rZW4xMg==", "marked==", "one=================", "o n e=marked-token-of-one",
            "one=fifteen-letters", "one=marked token of one", "marked", "marked,one=two", "=marked", "marked=", ",",
        ] {
            let problems = read(tokens).problems
            #expect(!problems.isEmpty && !"\(problems)".contains("marked"))
            #expect(!"\(problems)".contains("c2Vj"))
        }
    }
}
