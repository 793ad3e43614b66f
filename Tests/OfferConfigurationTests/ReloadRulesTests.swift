import OfferCore
import TestSupport
import Testing

@testable import OfferConfiguration

/// Changes that a reload refuses or defers to a restart.
@Suite("Reload rules")
struct ReloadRulesTests {
    /// The inputs of a configuration: environment variables and the text of the configuration file.
    fileprivate struct Setup {
        var environment: [String: String] = [:]
        var file = ""

        var configuration: Configuration {
            let defaults = ["SUBSCRIPTION_OFFERS_KEY_ID": "A", "SUBSCRIPTION_OFFERS_BEHIND_PROXY": "true"]
            let content = file.isEmpty ? ConfigurationFile() : ConfigurationFile.read(Array(file.utf8), name: "f").file
            return Configuration.read(
                flags: Configuration.Flags(), environment: defaults.merging(environment) { $1 }, file: content
            ).configuration
        }
    }

    private static let apps = "apps: [{bundleID: a, products: [{productID: p, offers: [o]}]}]\n"
    private static let callers = ["SUBSCRIPTION_OFFERS_API_TOKENS": "a=aaaaaaaaaaaaaaaa"]
    private static func users(_ claim: String, issuer: String = "i") -> String {
        "users: [{issuer: \(issuer), audience: a, jwks: keys.json, \(claim)}]\n"
    }
    private static func salt(_ text: String) -> [String: String] {
        ["SUBSCRIPTION_OFFERS_USERNAME_SALT": text + "0123456789abcdef"]
    }

    @Test(
        "a reload refuses changes that open up the service or change how users are identified",
        arguments: [
            (Setup(environment: callers), Setup(), "lists no callers"),
            (Setup(file: users("applicationUsername: sub")), Setup(), "lists no callers"),
            (Setup(file: apps), Setup(), "lists no apps"),
            (
                Setup(environment: ["SUBSCRIPTION_OFFERS_HOST": "0.0.0.0"]), Setup(), "only on this machine"
            ),
            (
                Setup(file: users("applicationUsername: sub")), Setup(file: users("applicationUsername: email")),
                "by another claim"
            ),
            (
                Setup(file: users("applicationUsername: sub")), Setup(file: users("appAccountToken: sub")),
                "by another claim"
            ),
            (
                Setup(environment: salt("one"), file: users("hashedUsername: sub")),
                Setup(environment: salt("two"), file: users("hashedUsername: sub")), "USERNAME_SALT has changed"
            ),
        ])
    fileprivate func refused(old: Setup, new: Setup, reason: String) {
        let (old, new) = (old.configuration, new.configuration)
        let refusals = ReloadRules.refusals(running: old, from: old, to: new)
        #expect(refusals.count == 1 && refusals.first?.error.contains(reason) == true, "\(refusals)")
        #expect(refusals.first?.hint.contains("restart") == true)
    }

    @Test(
        "a reload accepts other changes",
        arguments: [
            (Setup(), Setup(environment: callers, file: apps)),
            (
                Setup(environment: callers),
                Setup(environment: ["SUBSCRIPTION_OFFERS_API_TOKENS": "b=bbbbbbbbbbbbbbbb"], file: apps)
            ),
            (Setup(file: users("applicationUsername: sub")), Setup(file: users("appAccountToken: sub", issuer: "j"))),
            (Setup(environment: salt("one")), Setup(environment: salt("two"))),
            (
                Setup(environment: ["SUBSCRIPTION_OFFERS_HOST": "0.0.0.0"]),
                Setup(environment: ["SUBSCRIPTION_OFFERS_HOST": "::"])
            ),
        ])
    fileprivate func permitted(old: Setup, new: Setup) {
        let (old, new) = (old.configuration, new.configuration)
        #expect(ReloadRules.refusals(running: old, from: old, to: new) == [])
    }

    @Test("a reload compares the listening address with the one at startup and other settings with those in force")
    func runningAndInForce() {
        let beyond = Setup(environment: ["SUBSCRIPTION_OFFERS_HOST": "0.0.0.0"]).configuration
        let local = Setup().configuration
        #expect(ReloadRules.refusals(running: beyond, from: local, to: local).count == 1)
        #expect(ReloadRules.refusals(running: local, from: beyond, to: local) == [])
        let apps = Setup(file: Self.apps).configuration
        #expect(ReloadRules.refusals(running: local, from: apps, to: local).count == 1)
        #expect(ReloadRules.refusals(running: apps, from: local, to: local) == [])
    }

    @Test("a reload names exactly the changed settings that need a restart")
    func restartNotices() {
        let values = [
            "HOST": "localhost", "PORT": "1", "METRICS_ADDRESS": "127.0.0.1:1", "REUSE_PORT": "true",
            "AUDIT_LOG": "x", "AUDIT_KEY": "0123456789abcdef", "AUDIT_SYNC": "true", "AUDIT_ROTATE_MB": "1",
            "AUDIT_CHAIN": "hmac", "AUDIT_ADDRESSES": "plain",
            "LOG_FORMAT": "json", "LOG_LEVEL": "debug", "KEY_ID": "B", "BUNDLE_KEY_IDS": "a=B",
            "RETIRED_KEY_IDS": "C", "KEYS_DIR": "x", "ALLOW_READABLE_KEYS": "true",
            "ISSUER_ID": Fixtures.issuerText, "API_TOKENS": "a=aaaaaaaaaaaaaaaa", "USERNAME_SALT": "0123456789abcdef",
            "BEHIND_PROXY": "false", "TRUSTED_PROXIES": "192.0.2.1", "ALLOW_ANYONE": "true",
            "PRIVATE_KEY": "x", "KEY_FINGERPRINT": String(repeating: "0", count: 64), "BUFFER_MIB": "32",
            "DATABASE": "sqlite:x", "PAYLOAD_DAYS": "1", "NOTIFICATIONS_ADDRESS": "127.0.0.1:1",
            "FORWARD_KEY": "0123456789abcdef", "FORWARD_ROOTS": "x",
        ]
        let old = Setup().configuration
        for (name, value) in values {
            let variable = "SUBSCRIPTION_OFFERS_" + name
            let notices = ReloadRules.restartNotices(
                from: old, to: Setup(environment: [variable: value]).configuration)
            let takesRestart = Settings.all.first { $0.variable == variable }?.reload == .onRestart
            #expect(notices.map(\.error) == (takesRestart ? ["\(variable) has changed since startup"] : []))
        }
        let notices = ReloadRules.restartNotices(
            from: old, to: Setup(file: "apps: [{bundleID: a, notifications: {}, products: []}]").configuration)
        #expect(notices.map(\.error) == ["SUBSCRIPTION_OFFERS_DATABASE has changed since startup"])
        // The same value, spelled differently, is not a change.
        let same = ["PORT": "08080", "REUSE_PORT": "no", "LOG_FORMAT": "TEXT"]
        for (name, value) in same {
            let new = Setup(environment: ["SUBSCRIPTION_OFFERS_" + name: value]).configuration
            #expect(ReloadRules.restartNotices(from: old, to: new) == [], "\(name)")
        }
    }
}
