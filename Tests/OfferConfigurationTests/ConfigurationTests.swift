import Logging
import OfferAudit
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferKeys
import OfferTelemetry
import TestSupport
import Testing

@testable import OfferConfiguration

@Suite("Configuration")
struct ConfigurationTests {
    private static func problems(
        _ environment: [String: String], _ change: (inout Configuration.Flags) -> Void = { _ in }
    ) -> [String] {
        var flags = Configuration.Flags()
        change(&flags)
        return Configuration.read(flags: flags, environment: environment).problems.map(\.error)
    }

    private static func configuration(
        _ environment: [String: String], flags: Configuration.Flags = .init()
    ) -> Configuration {
        let (configuration, problems) = Configuration.read(flags: flags, environment: environment)
        #expect(problems == [])
        return configuration
    }

    @Test("the defaults are loopback, port 8080 and the folder `keys`; flags override the environment")
    func precedence() throws {
        let plain = Self.configuration(["SUBSCRIPTION_OFFERS_KEY_ID": "ABC"])
        #expect((plain.address.host, plain.address.port, plain.keys.folder.path) == ("127.0.0.1", 8080, "keys"))
        var flags = Configuration.Flags()
        flags[Settings.host] = "::1"
        flags[Settings.port] = "1"
        flags[Settings.keysDirectory] = "x"
        flags[Settings.keyID] = "FLAG"
        let changed = Self.configuration(
            [
                "SUBSCRIPTION_OFFERS_KEY_ID": "ENV", "SUBSCRIPTION_OFFERS_PORT": "2",
                "SUBSCRIPTION_OFFERS_HOST": "localhost", "SUBSCRIPTION_OFFERS_KEYS_DIR": "y",
            ], flags: flags)
        #expect((changed.address.host, changed.address.port, changed.keys.folder.path) == ("::1", 1, "x"))
        #expect(changed.keys.text?.reveal == nil)
        #expect(changed.keys.wanted.choice.ofAllApps?.description == "FLAG")
    }

    @Test("an empty path, such as from an unset shell variable, counts as unset")
    func emptyPaths() {
        var flags = Configuration.Flags()
        flags[Settings.keysDirectory] = ""
        flags[Settings.auditLog] = ""
        let configuration = Self.configuration(["SUBSCRIPTION_OFFERS_KEY_ID": "ABC"], flags: flags)
        #expect(configuration.keys.folder.path == "keys" && configuration.keys.folder.mayBeMissing)
        #expect(configuration.audit == nil)
    }

    @Test("audit lines with an HMAC require the audit key, and addresses are recorded as HMACs by default")
    func auditChain() throws {
        let chain = "SUBSCRIPTION_OFFERS_AUDIT_CHAIN"
        var environment = ["SUBSCRIPTION_OFFERS_KEY_ID": "ABC", "SUBSCRIPTION_OFFERS_AUDIT_LOG": "audit.jsonl"]
        let plain = try #require(Self.configuration(environment).audit)
        #expect(plain.chain == .sha256 && plain.addresses == .hmac)
        environment[chain] = "hmac"
        #expect(
            Configuration.read(flags: Configuration.Flags(), environment: environment).problems.map(\.error)
                == ["\(chain) is hmac, but SUBSCRIPTION_OFFERS_AUDIT_KEY is not set"])
        environment["SUBSCRIPTION_OFFERS_AUDIT_KEY"] = "0123456789abcdef"
        environment["SUBSCRIPTION_OFFERS_AUDIT_ADDRESSES"] = "Off"
        let keyed = try #require(Self.configuration(environment).audit)
        #expect(keyed.chain == .hmac && keyed.addresses == .off)
        // The commands for the trail read the same settings, whatever else is wrong.
        environment["SUBSCRIPTION_OFFERS_PORT"] = "none"
        let alone = try #require(try Configuration.audit(flags: Configuration.Flags(), environment: environment))
        #expect(alone.chain == .hmac && alone.path == "audit.jsonl")
        environment["SUBSCRIPTION_OFFERS_AUDIT_LOG"] = nil
        #expect(throws: ConfigurationError.self) {
            try Configuration.audit(flags: Configuration.Flags(), environment: environment)
        }
    }

    @Test("the metrics address needs a port, and its flag overrides the environment")
    func metricsAddress() {
        let variable = "SUBSCRIPTION_OFFERS_METRICS_ADDRESS"
        let environment = ["SUBSCRIPTION_OFFERS_KEY_ID": "ABC", variable: "127.0.0.1:9464"]
        #expect(Self.configuration(["SUBSCRIPTION_OFFERS_KEY_ID": "ABC"]).metricsAddress == nil)
        #expect(
            Self.configuration(environment).metricsAddress == ListeningAddress(host: "127.0.0.1", port: 9464))
        var flags = Configuration.Flags()
        for (text, host, port) in [("[::1]:0", "::1", 0), ("localhost:65535", "localhost", 65535)] {
            flags[Settings.metricsAddress] = text
            #expect(
                Self.configuration(environment, flags: flags).metricsAddress == ListeningAddress(host: host, port: port)
            )
        }
        for text in [
            "9464", ":9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:9464", "[a]:1",
            "http://a:1", "a b:1",
        ] {
            #expect(Self.problems(environment) { $0[Settings.metricsAddress] = text }.count == 1, "\(text)")
        }
    }

    @Test(
        "problems never repeat a key that was put into the wrong variable",
        arguments: Settings.all.map(\.variable))
    func slips(variable: String) {
        let base64 = String(repeating: "marked", count: 30)
        var texts = ["-----BEGIN PRIVATE KEY-----\nmarked+marked=marked,marked\n", base64, base64 + "=="]
        let isPath = [Settings.keysDirectory, Settings.configurationFile, Settings.environmentFile]
            .map(\.variable).contains(variable)
        if !isPath {
            texts += ["marked=marked", "marked,marked"]
        }
        for text in texts {
            var environment = ["SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS": "a=b,="]
            environment[variable] = text
            let told = Self.problems(environment).joined()
            #expect(!told.contains("marked"), "\(told)")
        }
    }

    @Test("log level and format come from the flags or else the environment, and default to info and text")
    func log() {
        let key = ["SUBSCRIPTION_OFFERS_KEY_ID": "A"]
        let set = key.merging(["SUBSCRIPTION_OFFERS_LOG_LEVEL": "Debug", "SUBSCRIPTION_OFFERS_LOG_FORMAT": "json"]) {
            $1
        }
        var flags = Configuration.Flags()
        flags[Settings.logLevel] = "error"
        flags[Settings.logFormat] = "text"
        for (configuration, level, format) in [
            (Self.configuration(key), Logger.Level.info, LogFormat.text), (Self.configuration(set), .debug, .json),
            (Self.configuration(set, flags: flags), .error, .text),
        ] {
            #expect((configuration.logLevel, configuration.logFormat) == (level, format))
        }
        #expect(
            Self.problems(
                key.merging([
                    "SUBSCRIPTION_OFFERS_LOG_LEVEL": "marked", "SUBSCRIPTION_OFFERS_LOG_FORMAT": "marked",
                ]) { $1 }) == [
                    "SUBSCRIPTION_OFFERS_LOG_LEVEL or --log-level has an unknown value",
                    "SUBSCRIPTION_OFFERS_LOG_FORMAT or --log-format has an unknown value",
                ])
    }

    @Test("two apps that differ only in letter case are refused")
    func letterCase() {
        #expect(
            Self.problems(["SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS": "com.a.App=K,com.a.app=K"]) == [
                "part 2 of SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS repeats an app in different letter case"
            ])
    }

    @Test("all problems are reported together")
    func allAtOnce() {
        let problems = Self.problems([
            "SUBSCRIPTION_OFFERS_PORT": "many", "SUBSCRIPTION_OFFERS_HOST": "0.0.0.0",
            "SUBSCRIPTION_OFFERS_PRIVATE_KEY": "marked-secret", "SUBSCRIPTION_OFFERS_KEYID": "ABC",
        ])
        #expect(problems.count == 5)
        #expect(!problems.joined().contains("marked"))
    }

    @Test(
        "beyond loopback, a service needs TLS or a proxy, callers, and apps; each missing one is reported",
        arguments: [
            "0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example.com", "127.1", "example.com", "128.0.0.1", "127.+0.+0.+1",
            "::ffff:126.0.0.1", "",
        ])
    func beyondLoopback(host: String) {
        let open = ["SUBSCRIPTION_OFFERS_KEY_ID": "A"]
        #expect(Self.problems(open) { $0[Settings.host] = host }.count == 3)
        let proxy = open.merging(["SUBSCRIPTION_OFFERS_BEHIND_PROXY": "true"]) { $1 }
        #expect(Self.problems(proxy) { $0[Settings.host] = host }.count == 2)
        let callers = proxy.merging(["SUBSCRIPTION_OFFERS_API_TOKENS": "a=aaaaaaaaaaaaaaaa"]) { $1 }
        #expect(Self.problems(callers) { $0[Settings.host] = host }.count == 1)
        let anyone = proxy.merging(["SUBSCRIPTION_OFFERS_ALLOW_ANYONE": "true"]) { $1 }
        #expect(Self.problems(anyone) { $0[Settings.host] = host }.count == 1)
        var apps = callers
        apps["SUBSCRIPTION_OFFERS_KEY_ID"] = nil
        apps["SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS"] = "com.example=A"
        #expect(Self.problems(apps) { $0[Settings.host] = host } == [])
        apps["SUBSCRIPTION_OFFERS_BEHIND_PROXY"] = "false"
        #expect(Self.problems(apps) { $0[Settings.host] = host }.count == 1)
    }

    @Test(
        "an invalid trusted proxy is reported with its position",
        arguments: ["10.0.0.0/8,x", "10.0.0.0/8,10.1.0.0/8", "10.0.0.0/8,"])
    func proxies(text: String) throws {
        let problems = Self.problems([
            "SUBSCRIPTION_OFFERS_KEY_ID": "A", "SUBSCRIPTION_OFFERS_TRUSTED_PROXIES": text,
        ])
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("part 2 of ") == true)
    }

    @Test(
        "127.0.0.0/8, ::1 and localhost are loopback addresses",
        arguments: ["127.0.0.1", "127.9.8.7", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "localhost"])
    func loopback(host: String) {
        #expect(Self.problems(["SUBSCRIPTION_OFFERS_KEY_ID": "A"]) { $0[Settings.host] = host } == [])
    }

    @Test(
        "a setting that this version does not support prevents startup", arguments: ["ISSUER", "AUDIT_FILE"])
    func unknownSettings(name: String) {
        #expect(Self.problems(["SUBSCRIPTION_OFFERS_KEY_ID": "A", "SUBSCRIPTION_OFFERS_\(name)": "x"]).count == 1)
    }

    @Test("an empty variable counts as unset; an invalid key ID is reported")
    func keyIDs() {
        #expect(Self.problems(["SUBSCRIPTION_OFFERS_KEY_ID": ""]).count == 1)
        #expect(Self.problems(["SUBSCRIPTION_OFFERS_KEY_ID": "A", "SUBSCRIPTION_OFFERS_PRIVATE_KEY": ""]) == [])
        #expect(Self.problems(["SUBSCRIPTION_OFFERS_KEY_ID": "A\u{2063}B"]).count == 1)
        #expect(Self.problems(["SUBSCRIPTION_OFFERS_KEY_ID": "../../A"]).count == 1)
        #expect(Self.problems(["SUBSCRIPTION_OFFERS_KEY_ID": "A"]) { $0.development = true }.count == 1)
    }

    @Test("a token variable that is set but empty is a problem; any other empty variable counts as unset")
    func emptyVariables() {
        let key = ["SUBSCRIPTION_OFFERS_KEY_ID": "A"]
        for text in ["", " ", "\t\n ", "\u{A0}"] {
            let problems = Self.problems(key.merging(["SUBSCRIPTION_OFFERS_API_TOKENS": text]) { $1 })
            #expect(problems.count == 1 && problems.first?.contains("API_TOKENS is set but empty") == true)
        }
        for variable in Settings.all.map(\.variable) where variable != Settings.tokens.variable {
            var environment = ["SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS": "a=A"]
            environment[variable] = ""
            let problems = Self.problems(environment)
            let expected = variable == Settings.bundleKeyIDs.variable ? 1 : 0
            #expect(problems.count == expected, "\(variable): \(problems)")
        }
    }

    @Test("a configuration without callers says so")
    func withoutCallers() {
        let key = ["SUBSCRIPTION_OFFERS_KEY_ID": "A"]
        let problems = Self.configuration(key).callersProblems
        #expect(problems.count == 1 && problems.first?.error.hasPrefix("no caller is configured") == true)
        let token = ["SUBSCRIPTION_OFFERS_API_TOKENS": "a=aaaaaaaaaaaaaaaa"]
        #expect(Self.configuration(key.merging(token) { $1 }).callersProblems == [])
    }

    @Test("per-app keys are read from pairs, with or without a key for all other apps")
    func keysOfApps() throws {
        for (environment, ofOthers) in [([:], nil), (["SUBSCRIPTION_OFFERS_KEY_ID": "ALL"], "ALL")]
            as [([String: String], String?)]
        {
            let pairs = ["SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS": "com.example.a=KEYA, com.example.b = KEYB"]
            let configuration = Self.configuration(environment.merging(pairs) { $1 })
            #expect(configuration.keys.text?.reveal == nil)
            let choice = configuration.keys.wanted.choice
            for (app, expected) in [("com.example.a", "KEYA"), ("com.example.b", "KEYB"), ("com.example.A", ofOthers)] {
                let found = choice.keyID(for: try BundleID(utf8: Array(app.utf8)))
                #expect(found?.description == expected)
            }
        }
    }

    @Test("the issuer ID comes from the flag or else the variable; apps can have their own")
    func issuerID() throws {
        let environment = [
            "SUBSCRIPTION_OFFERS_KEY_ID": "A", "SUBSCRIPTION_OFFERS_ISSUER_ID": Fixtures.issuerText.uppercased(),
        ]
        let app = try BundleID(utf8: Array("com.example.a".utf8))
        let plain = Self.configuration(environment)
        #expect(plain.issuerIDs[app]?.uuid.description == Fixtures.issuerText)
        var flags = Configuration.Flags()
        flags[Settings.issuerID] = Fixtures.nonceText
        #expect(Self.configuration(environment, flags: flags).issuerIDs[app]?.uuid.description == Fixtures.nonceText)
        let (file, _) = ConfigurationFile.read(
            Array("apps:\n- {bundleID: com.example.a, issuerID: \(Fixtures.nonceText), products: []}".utf8), name: "f")
        let both = Configuration.read(flags: Configuration.Flags(), environment: environment, file: file).configuration
        #expect(both.issuerIDs[app]?.uuid.description == Fixtures.nonceText)
        #expect(
            both.issuerIDs[try BundleID(utf8: Array("com.example.b".utf8))]?.uuid.description == Fixtures.issuerText)
        #expect(Self.configuration(["SUBSCRIPTION_OFFERS_KEY_ID": "A"]).issuerIDs[app] == nil)
        for text in ["x", "57246542-96fe-1a63-e053-0824d011072", "{57246542-96fe-1a63-e053-0824d011072a}"] {
            let problems = Self.problems([
                "SUBSCRIPTION_OFFERS_KEY_ID": "A", "SUBSCRIPTION_OFFERS_ISSUER_ID": text,
            ])
            #expect(problems.count == 1 && problems.first?.contains("SUBSCRIPTION_OFFERS_ISSUER_ID") == true)
        }
    }

    @Test(
        "each malformed pair is a separate problem",
        arguments: [
            ("a", 1), ("a=", 1), ("=K", 1), ("a=K,", 1), ("a=K=K", 1), ("a=K,a=L", 1), ("a=K-1,b=K 2,c", 3),
            ("a\u{2063}=K", 1),
        ])
    func brokenPairs(text: String, count: Int) {
        #expect(Self.problems(["SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS": text]).count == count)
    }

    @Test("a secret prints as a placeholder")
    func secret() {
        let secret = Secret("marked")
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!"\(secret)\(String(reflecting: secret))\(dumped)".contains("marked"))
    }
}
