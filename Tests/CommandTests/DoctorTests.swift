import Foundation
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import TestSupport
import Testing

@Suite("offer-signer doctor", .serialized, .timeLimit(.minutes(5)))
struct DoctorTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_2X9R4HXF34.p8")
    }

    private func run(_ command: String, _ environment: [String: String]) throws -> Command.Outcome {
        let settings = ["SUBSCRIPTION_OFFERS_KEYS_DIR": folder.path].merging(environment) { $1 }
        return try Command.runOfferSigner([command, "--port", "0"], environment: settings)
    }

    private func doctor(_ environment: [String: String]) throws -> Command.Outcome { try run("doctor", environment) }

    @Test("doctor reports a correct setup and exits with status 0")
    func well() throws {
        let outcome = try doctor(["SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF34"])
        #expect(outcome.status == 0)
        #expect(outcome.standardError == "")
        #expect(outcome.standardOutput.contains("ok: key 2X9R4HXF34 signs\n"))
        #expect(outcome.standardOutput.hasSuffix("ok: the service would be ready\n"))
        #expect(outcome.standardOutput.contains("on libcrypto's secure heap"))
        #expect(!outcome.standardOutput.contains("a proxy hides"))
    }

    @Test("doctor counts the offers with reports and with a holdout, and names the facts that they compare")
    func reports() throws {
        try folder.write(
            """
            apps:
              - bundleID: a
                track: [episodesWatched, hasFamily]
                products:
                  - productID: monthly
                    offers:
                      - plain
                      - {offerID: one, rule: {everSubscribed: true}}
                      - {offerID: two, rule: {all: [{share: {of: 0.5, by: s}}, {share: {of: 0.9, by: t}}]}}
              - {bundleID: b, products: []}
            """.utf8, to: "offers.yaml")
        let outcome = try doctor([
            "SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF34", "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
            "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:\(folder.path)/store.sqlite",
        ])
        let line =
            "reports of a: 2 offers with a rule, 1 of them with a holdout; facts compared: episodesWatched, hasFamily"
        #expect(outcome.standardOutput.contains("ok: \(line)\n"), "\(outcome.standardOutput)")
        #expect(!outcome.standardOutput.contains("reports of b"))
    }

    @Test("doctor says where the database is, without making it, and what would keep it from being opened")
    func database() throws {
        try folder.write("apps: [{bundleID: a, products: []}]\n".utf8, to: "offers.yaml")
        func run(_ path: String) throws -> Command.Outcome {
            try doctor([
                "SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF34", "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
                "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:\(folder.path)/\(path)",
            ])
        }
        let new = try run("data/store.sqlite")
        #expect(new.status == 0, "\(new.standardError)")
        #expect(new.standardOutput.contains("ok: the database of subscribers would be created"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/data"))
        let missing = try run("a/b/c/store.sqlite")
        #expect(missing.status == 1 && missing.standardError.contains("the database cannot be written"))
    }

    @Test("doctor names the receivers of events without secrets, and says if nothing signs the events")
    func events() throws {
        try folder.write(
            """
            apps:
              - bundleID: a
                events: {to: ['https://backend.example:8443/hook?secret=marked']}
                products: []
            """.utf8, to: "offers.yaml")
        var settings = [
            "SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF34", "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
            "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:\(folder.path)/store.sqlite",
        ]
        let line = "ok: events of a would go to https://backend.example:8443"
        let unsigned = try doctor(settings).standardOutput
        #expect(unsigned.contains(line + ", without a signature, because SUBSCRIPTION_OFFERS_FORWARD_KEY is not set\n"))
        settings["SUBSCRIPTION_OFFERS_FORWARD_KEY"] = "0123456789abcdef0123456789abcdef"
        let signed = try doctor(settings).standardOutput
        #expect(signed.contains(line + "\n") && !signed.contains("marked"), "\(signed)")
    }

    /// Settings with a configuration file.
    private func settings(_ more: [String: String] = [:]) throws -> [String: String] {
        try folder.write("apps: [{bundleID: a, products: []}]\n".utf8, to: "offers.yaml")
        return [
            "SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF34", "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
        ].merging(more) { $1 }
    }

    @Test("a database URL with a password is accepted from the environment and its file, and never shown")
    func databasePassword() throws {
        let url = "postgres://offers:marked@127.0.0.1:1/offers"
        for (setting, mode) in [("process", 0o600), ("file", 0o600), ("file", 0o644)] {
            try folder.write("SUBSCRIPTION_OFFERS_DATABASE=\(url)\n".utf8, to: "env", mode: mode)
            let outcome = try doctor(
                settings(
                    setting == "file"
                        ? ["SUBSCRIPTION_OFFERS_ENV_FILE": folder.path + "/env"] : ["SUBSCRIPTION_OFFERS_DATABASE": url]
                ))
            // Nothing listens there.
            #expect(outcome.status == 1 && outcome.standardError.contains("the database cannot be reached"))
            let isReadable = outcome.standardError.contains("env contains the password of the database and can be read")
            #expect(isReadable == (mode == 0o644), "\(outcome.standardError)")
            #expect(outcome.standardError.components(separatedBy: "error: ").count - 1 == (isReadable ? 2 : 1))
            #expect(!(outcome.standardOutput + outcome.standardError).contains("marked"))
        }
    }

    @Test(
        "a database that cannot be used stops the start, and no message repeats a part of its URL",
        arguments: [
            ("postgres://u:mar/marked@db/x", "cannot be used: the URL is invalid"),
            ("postgresql://u:marked@db/x?pgbouncer=true", "cannot be used: the URL is invalid"),
            ("host=db password=marked", "names no database"), ("jdbc:postgresql://u:marked@db/x", "names no database"),
        ])
    func databaseURL(url: String, problem: String) throws {
        for command in ["doctor", "serve"] {
            let outcome = try run(command, settings(["SUBSCRIPTION_OFFERS_DATABASE": url]))
            #expect(outcome.status == 1)
            #expect(outcome.standardError.contains("error: SUBSCRIPTION_OFFERS_DATABASE or --database \(problem)"))
            #expect(outcome.standardError.contains("\nhint: write it like"), "\(outcome.standardError)")
            #expect(!(outcome.standardOutput + outcome.standardError).contains("marked"))
        }
    }

    @Test("a database URL with a password is refused on the command line, which other accounts can read")
    func databasePasswordAsFlag() throws {
        for command in [["serve", "--port", "0"], ["doctor"], ["database", "check"]] {
            for url in ["postgres://offers:marked@db/offers", "postgresql://db/offers?password=marked"] {
                let environment = try settings(["SUBSCRIPTION_OFFERS_KEYS_DIR": folder.path])
                let outcome = try Command.runOfferSigner(command + ["--database", url], environment: environment)
                #expect(outcome.status == 1)
                #expect(outcome.standardError.contains("error: --database contains a password"))
                #expect(outcome.standardError.contains("hint: set SUBSCRIPTION_OFFERS_DATABASE in the environment"))
                #expect(!(outcome.standardOutput + outcome.standardError).contains("marked"))
            }
        }
    }

    @Test("doctor lists the origins of web pages, and warns of those that others can change")
    func webOrigins() throws {
        let origins = "http://shop.example.com,capacitor://localhost,https://app.example.com"
        let outcome = try run(
            "doctor",
            settings([
                "SUBSCRIPTION_OFFERS_WEB_ORIGINS": origins, "SUBSCRIPTION_OFFERS_KEYS_DIR": folder.path,
            ]))
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let list = "capacitor://localhost, http://shop.example.com, https://app.example.com"
        #expect(outcome.standardOutput.contains("ok: pages of \(list) may call the routes for apps\n"))
        #expect(outcome.standardOutput.components(separatedBy: "warning: pages of ").count == 2)
        #expect(outcome.standardOutput.contains("warning: pages of http://shop.example.com may call the service"))
        #expect(outcome.standardOutput.contains("hint: serve the pages over HTTPS"))
        // A path is not part of an origin.
        let wrong = try run("doctor", settings(["SUBSCRIPTION_OFFERS_WEB_ORIGINS": "https://app.example.com/shop"]))
        #expect(wrong.status == 1)
        #expect(
            wrong.standardError.contains(
                "error: part 1 of SUBSCRIPTION_OFFERS_WEB_ORIGINS or --web-origins is not an origin\nhint: write origins"
            ),
            "\(wrong.standardError)")
    }

    @Test("doctor and rules check say what StoreKit 1 lacks in the sandbox, without a complaint")
    func sandboxNote() throws {
        let products = "products: [{productID: p, subscriptionGroupID: '1', offers: [{offerID: o, rule: retention}]}]"
        for (more, isNoted) in [("", true), (", sandboxV1: true", false)] {
            let environment = try settings([
                "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:\(folder.path)/store.sqlite",
                "SUBSCRIPTION_OFFERS_KEYS_DIR": folder.path,
            ])
            try folder.write("apps: [{bundleID: a, \(products)\(more)}]\n".utf8, to: "offers.yaml")
            for command in [["doctor"], ["rules", "check"]] {
                let outcome = try Command.runOfferSigner(command, environment: environment)
                #expect(outcome.status == 0, "\(outcome.standardError)")
                #expect(outcome.standardOutput.contains("note: a: in the sandbox, offers with a rule") == isNoted)
                #expect(outcome.standardOutput.contains("hint: for such an app, set sandboxV1: true") == isNoted)
                if command == ["rules", "check"] { #expect(!outcome.standardOutput.contains("warning: ")) }
            }
        }
    }

    @Test("files and folders that others can write to are refused with a hint, except with a development key")
    func writable() throws {
        let file = folder.path + "/offers.yaml"
        try folder.write("apps: [{bundleID: a, products: []}]\n".utf8, to: "offers.yaml", mode: 0o664)
        try folder.write("SUBSCRIPTION_OFFERS_CONFIG=\(file)\n".utf8, to: "env", mode: 0o602)
        let environment = [
            "SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF34", "SUBSCRIPTION_OFFERS_ENV_FILE": folder.path + "/env",
        ]
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: folder.path)
        for command in ["doctor", "serve"] {
            let outcome = try run(command, environment)
            #expect(outcome.status == 1)
            for problem in [
                "\(file) can be written by others (mode 664)", "\(folder.path)/env can be written by others (mode 602)",
                "the key folder \(folder.path) can be written by others (mode 777)",
            ] { #expect(outcome.standardError.contains(problem)) }
            #expect(outcome.standardError.contains("hint: chmod go-w \(file)\n"))
            #expect(outcome.standardError.components(separatedBy: "error: ").count - 1 == 3, "\(outcome.standardError)")
        }
        let development = try Command.runOfferSigner([
            "doctor", "--development", "--keys-dir", folder.path, "--config", file,
        ])
        #expect(development.status == 0, "\(development.standardError)")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path + "/env")
        #expect(try doctor(environment).status == 0)
    }

    @Test("a thousand keys fit on the secure heap")
    func thousandKeys() throws {
        let pem = try PrivateKeyPEM.generate()
        for number in 1000..<2000 { try folder.write(pem, to: "SubscriptionKey_STBY00\(number).p8") }
        let outcome = try doctor(["SUBSCRIPTION_OFFERS_KEY_ID": "STBY001999"])
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.contains("on libcrypto's secure heap"))
    }

    @Test("doctor says that a proxy hides addresses unless it is named")
    func proxy() throws {
        var environment = ["SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF34", "SUBSCRIPTION_OFFERS_BEHIND_PROXY": "true"]
        let hidden = try doctor(environment)
        #expect(hidden.status == 0 && hidden.standardOutput.contains("note: a proxy hides the addresses of clients"))
        #expect(hidden.standardOutput.contains("hint: name the proxy in SUBSCRIPTION_OFFERS_TRUSTED_PROXIES"))
        environment["SUBSCRIPTION_OFFERS_TRUSTED_PROXIES"] = "192.0.2.1"
        #expect(try !doctor(environment).standardOutput.contains("a proxy hides"))
    }

    @Test(
        "doctor reports each problem with a hint and exits with status 1",
        arguments: [
            (
                ["SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF34", "SUBSCRIPTIONS_OFFERS_RETIRED_KEY_IDS": "A"],
                "SUBSCRIPTIONS_OFFERS_RETIRED_KEY_IDS is set", "unset it"
            ),
            (
                ["SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF34", "SUBSCRIPTION_OFFERS_ENV_FILE": "-----BEGIN marked"],
                "SUBSCRIPTION_OFFERS_ENV_FILE or --env-file is not a path", "the text of a key"
            ),
            ([:], "no signing key is chosen", "--development"),
            (
                ["SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF34", "SUBSCRIPTION_OFFERS_LOG_LEVEL": "marked"],
                "SUBSCRIPTION_OFFERS_LOG_LEVEL or --log-level has an unknown value",
                "one of trace, debug, info, notice"
            ),
            (
                ["SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF34", "SUBSCRIPTION_OFFERS_LOG_FORMAT": "marked"],
                "SUBSCRIPTION_OFFERS_LOG_FORMAT or --log-format has an unknown value", "one of text, json"
            ),
            (
                ["SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF35"], "there is no key file",
                "there is a key 2X9R4HXF34: did you mean"
            ),
            (
                ["SUBSCRIPTION_OFFERS_KEY_ID": "2x9r4hxf34"], "there is no key file",
                "there is a key 2X9R4HXF34: did you mean"
            ),
            (
                ["SUBSCRIPTION_OFFERS_KEYID": "2X9R4HXF34"], "SUBSCRIPTION_OFFERS_KEYID is set",
                "SUBSCRIPTION_OFFERS_KEY_ID"
            ),
            (
                ["SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS": "com.a.App=2X9R4HXF34,com.a.app=2X9R4HXF34"],
                "repeats an app in different letter case", "that Xcode shows"
            ),
            (
                ["SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF34", "SUBSCRIPTION_OFFERS_ENV_FILE": "/nowhere/env"],
                "the file /nowhere/env, which SUBSCRIPTION_OFFERS_ENV_FILE or --env-file names, does not exist",
                "put the file there"
            ),
            (
                ["SUBSCRIPTION_OFFERS_KEY_ID": "A", "SUBSCRIPTION_OFFERS_PRIVATE_KEY": "marked"],
                "SUBSCRIPTION_OFFERS_PRIVATE_KEY cannot sign offers", "App Store Connect"
            ),
        ])
    func wrong(environment: [String: String], error: String, hint: String) throws {
        let outcome = try doctor(environment)
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("error: ") && outcome.standardError.contains(error))
        #expect(outcome.standardError.contains("hint: ") && outcome.standardError.contains(hint))
        #expect(!outcome.standardError.contains("marked"))
    }

    @Test("doctor reports all problems in one run")
    func allAtOnce() throws {
        for broken in BrokenKeyFile.all { try broken.place(in: folder) }
        try folder.drop(PrivateKeyPEM.generate(), as: "SubscriptionKey_FUTURE1234.p8")
        try FileManager.default.setAttributes(
            [.modificationDate: Date.now.addingTimeInterval(3600)],
            ofItemAtPath: folder.path + "/SubscriptionKey_FUTURE1234.p8")
        let outcome = try doctor(["SUBSCRIPTION_OFFERS_KEY_ID": "MISMATCHED", "SUBSCRIPTION_OFFERS_HOST": "0.0.0.0"])
        #expect(outcome.status == 1)
        for broken in BrokenKeyFile.all {
            #expect(outcome.standardError.contains("\(folder.path)/\(broken.name)"), "\(broken)")
        }
        #expect(outcome.standardError.contains("the clock shows"))
        #expect(outcome.standardError.contains("is not a loopback address"))
        // The other four: no TLS, no callers, no list of apps, and a wrong clock.
        #expect(outcome.standardError.components(separatedBy: "error: ").count - 1 == BrokenKeyFile.all.count + 4)
    }

    @Test("doctor and serve agree on readiness", arguments: [nil] + BrokenKeyFile.all.map { $0 as BrokenKeyFile? })
    func agreesWithServe(broken: BrokenKeyFile?) async throws {
        let callers = ["SUBSCRIPTION_OFFERS_API_TOKENS": "backend=ost_0123456789abcdef"]
        let service = try RunningService(environment: callers, prepare: { try broken?.place(in: $0) })
        let isReady = try await service.health.hasPrefix(#"{"status":"ready""#)
        let doctor = try Command.runOfferSigner(
            ["doctor", "--keys-dir", service.keys.path, "--key-id", RunningService.keyID], environment: callers)
        #expect(isReady == (broken == nil))
        #expect(doctor.status == (isReady ? 0 : 1))
    }

    @Test("doctor warns if no caller is configured, and says so only then")
    func callers() throws {
        let warning =
            "warning: no caller is configured, so anyone who can reach the service can request signatures\nhint: "
        let key = ["SUBSCRIPTION_OFFERS_KEY_ID": "2X9R4HXF34"]
        let alone = try doctor(key)
        #expect(alone.status == 0 && alone.standardOutput.contains(warning))
        let token = ["SUBSCRIPTION_OFFERS_API_TOKENS": "backend=ost_0123456789abcdef"]
        #expect(try !doctor(key.merging(token) { $1 }).standardOutput.contains("warning"))
        for text in ["", " ", "\t \n"] {
            let empty = try doctor(key.merging(["SUBSCRIPTION_OFFERS_API_TOKENS": text]) { $1 })
            #expect(empty.status == 1, "\(text.debugDescription)")
            #expect(empty.standardError.contains("error: SUBSCRIPTION_OFFERS_API_TOKENS is set but empty"))
        }
    }

    @Test("doctor creates no files with --development")
    func development() throws {
        let empty = try TemporaryFolder()
        let outcome = try Command.runOfferSigner(["doctor", "--development", "--keys-dir", empty.path])
        #expect(outcome.status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: empty.path) == [])
        try empty.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_ANOTHERKEY.p8")
        let besideOthers = try Command.runOfferSigner(["doctor", "--development", "--keys-dir", empty.path])
        #expect(besideOthers.status == 0)
        let nowhere = try Command.runOfferSigner(["doctor", "--development", "--keys-dir", empty.path + "/none"])
        #expect(nowhere.status == 1)
    }
}
