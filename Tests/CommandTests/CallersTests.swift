import Foundation
import OfferCore
import OfferCrypto
import TestSupport
import Testing

/// Tokens and the catalogue over a socket, with changes while the service runs.
@Suite("Callers over HTTP", .timeLimit(.minutes(5)))
struct CallersTests {
    private static func offer(
        _ headers: String, offer: String = "o", path: String = "/offer", of service: RunningService
    ) async throws -> ReceivedResponse {
        let body = #"{"appBundleID":"a","productIdentifier":"p","offerID":"\#(offer)","applicationUsername":"u"}"#
        return try await service.post(path, body, headers: headers)
    }

    @Test("with a token configured, any other credential gets 401 and WWW-Authenticate")
    func credentials() async throws {
        let token = "marked-secret-token"
        let service = try RunningService(
            arguments: ["--log-level", "trace"], environment: ["SUBSCRIPTION_OFFERS_API_TOKENS": "backend=\(token)"])
        let good = "Authorization: Bearer \(token)\r\n"
        #expect(try await Self.offer(good, of: service).status == 200)
        for (headers, path) in [
            ("", "/offer"), ("Authorization: Bearer \(token)0\r\n", "/offer"),
            ("Authorization: Bearer \(token.dropLast())\r\n", "/offer"),
            ("Authorization: Bearer \(token.uppercased())\r\n", "/offer"), (good + good, "/offer"),
            ("Authorization: \(token)\r\n", "/offer"), ("Cookie: token=\(token)\r\n", "/offer"),
            ("", "/offer?access_token=\(token)"),
            ("Authorization: Bearer \(String(repeating: "x", count: 7000))\r\n", "/offer"),
            ("Authorization: Bearer \(String(repeating: "x", count: 31_000))\r\n", "/offer"),
            ("authorization:Bearer \(String(repeating: "x", count: 1_000_000))\r\n", "/offer"),
            (good + "X-Other: a\r\nAUTHORIZATION: \(String(repeating: "x", count: 1_000_000))\r\n", "/offer"),
            ("Authorization: \r\n", "/offer"), ("Authorization: Bearer\r\n", "/offer"),
            ("Authorization: Basic \(token)\r\n", "/offer"), ("Proxy-Authorization: Bearer \(token)\r\n", "/offer"),
            ("X-Api-Key: \(token)\r\n", "/offer"), ("Authorization: Bearer \(token) \(token)\r\n", "/offer"),
        ] {
            let answer = try await Self.offer(headers, path: path, of: service)
            #expect(answer.status == 401, "\(headers)")
            #expect(answer.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
        }
        #expect(service.stop() == 0)
        #expect(try !service.log.contains(token))
    }

    @Test("SIGHUP changes tokens and offers together or not at all")
    func reload() async throws {
        let service = try RunningService(arguments: ["--metrics-address", "127.0.0.1:0"])
        try service.configure(
            "apps: [{bundleID: a, products: [{productID: p, offers: [o]}]}]\n" + Self.caller(token: "first"))
        try service.reload(service.configurationSetting)
        let first = "Authorization: Bearer first\r\n"
        try await waitUntil { try await Self.offer("", of: service).status == 401 }
        #expect(try await Self.offer(first, of: service).status == 200)
        #expect(try await Self.offer(first, offer: "new", of: service).status == 403)

        // A file with one invalid line changes nothing and is reported.
        try service.configure("apps: [{bundleID: a, products: [{productID: p, offers: [new]}]}]\ncallers: [{name: x}]")
        try service.reload(service.configurationSetting)
        try await waitUntil { try await service.health.contains("line 2") }
        #expect(try await service.health.contains("config.yaml, line 2: callers[0]: a caller has no tokenSHA256"))
        #expect(try await service.health.contains(#""catalogue":"degraded""#))
        #expect(try await Self.offer(first, of: service).status == 200)
        #expect(try await Self.offer(first, offer: "new", of: service).status == 403)

        try service.configure(
            "apps: [{bundleID: a, products: [{productID: p, offers: [new]}]}]\n" + Self.caller(token: "second"))
        try service.reload(service.configurationSetting)
        let second = "Authorization: Bearer second\r\n"
        try await waitUntil { try await Self.offer(second, offer: "new", of: service).status == 200 }
        #expect(try await Self.offer(first, of: service).status == 401)
        try await waitUntil { try await service.health.contains(#""catalogue":"ok""#) }

        // A configuration that would open the service to every client and offer changes nothing.
        try service.reload()
        try await waitUntil { try await service.health.contains("anyone could request signatures") }
        #expect(try await service.health.contains("any offer would be signed"))
        #expect(try await Self.offer("", offer: "new", of: service).status == 401)
        #expect(try await Self.offer(second, of: service).status == 403)

        // A configuration that names a missing key changes nothing.
        try service.configure(
            "apps: [{bundleID: a, keyID: NOTTHERE12, products: []}]\n" + Self.caller(token: "first"))
        try service.reload(service.configurationSetting)
        try await waitUntil { try await service.health.contains("NOTTHERE12") }
        #expect(try await service.health.contains(#""keys":"degraded""#))
        #expect(try await service.health.contains(#""catalogue":"degraded""#))
        #expect(try await Self.offer("", offer: "new", of: service).status == 401)

        // Once its key appears, that configuration would apply, but the file has become invalid in the meantime.
        try service.configure("callers: [{name: x}]")
        try service.reload(service.configurationSetting)
        try await waitUntil { try await !service.health.contains("NOTTHERE12") }
        try service.keys.drop(PrivateKeyPEM.generate(), as: "SubscriptionKey_NOTTHERE12.p8")
        try await Task.sleep(for: .seconds(2))
        #expect(try await !service.health.contains("NOTTHERE12"))
        #expect(try await Self.offer(second, offer: "new", of: service).status == 200)
        #expect(service.stop() == 0)
    }

    /// The callers of a configuration file, with one caller.
    private static func caller(token: String) throws -> String {
        "callers: [{name: x, tokenSHA256: \(Hexadecimal.text(of: try SHA256.hash(Array(token.utf8))))}]"
    }

    @Test("a service without callers says so once in the log and in /health/ready, until one is configured")
    func nobody() async throws {
        let service = try RunningService(arguments: ["--metrics-address", "127.0.0.1:0"])
        let problem = "no caller is configured, so anyone who can reach the service can request signatures"
        #expect(try await service.health.contains(#""status":"degraded""#))
        #expect(try await service.health.contains(problem))
        #expect(try await service.get("/health/ready").status == 200, "the service can sign")
        // Another host than this machine is refused, except for health checks.
        func statusAtAnotherHost(_ path: String) async throws -> Int? {
            try await Connection.open(port: service.port) {
                try await $0.send("GET \(path) HTTP/1.1\r\nHost: offers.example.com\r\n\r\n")
                return try await $0.receive()?.status
            }
        }
        // Metrics have their own address here.
        for (path, status) in [
            ("/metrics", 421), ("/openapi.json", 421), ("/health/live", 200), ("/health/ready", 200),
        ] { #expect(try await statusAtAnotherHost(path) == status, "\(path)") }
        try service.reload()
        try await waitUntil { try service.log.ranges(of: "keys in force").count == 2 }
        #expect(try service.log.ranges(of: " warning \(problem)").count == 1)
        try service.reload("SUBSCRIPTION_OFFERS_API_TOKENS=backend=ost_0123456789abcdef")
        try await waitUntil { try await service.health.hasPrefix(#"{"status":"ready""#) }
        #expect(try service.log.contains(#"problem resolved problem="\#(problem)""#))
        #expect(try await statusAtAnotherHost("/openapi.json") == 200, "with callers, any host is served")
        #expect(service.stop() == 0)
    }

    @Test("tokens new prints a new token of 256 bits each time, with the digest that sha256sum computes")
    func newToken() throws {
        let made = try (0..<2).map { _ in
            try JSONDecoder().decode(
                [String: String].self,
                from: Data(Command.runOfferSigner(["tokens", "new"]).standardOutput.utf8))
        }
        #expect(made[0]["token"] != made[1]["token"])
        let token = try #require(made[0]["token"])
        #expect(token.wholeMatch(of: /ost_[0-9a-f]{64}/) != nil)
        let sum = try Command.run("sha256sum", [], input: Array(token.utf8))
        #expect(made[0]["tokenSHA256"] == String(sum.standardOutput.prefix(64)))
    }

    @Test("doctor accepts a valid configuration file and rejects an invalid one")
    func doctor() throws {
        let folder = try TemporaryFolder()
        try folder.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_2X9R4HXF34.p8")
        for (text, status) in [
            ("apps: [{bundleID: a, keyID: 2X9R4HXF34, products: []}]", Int32(0)),
            ("apps: [{bundleID: a, keyID: 2X9R4HXF35, products: []}]", 1), ("apps: [{bundleID: a}]", 1), ("x", 1),
        ] {
            try folder.write(text.utf8, to: "offers.yaml")
            let outcome = try Command.runOfferSigner([
                "doctor", "--keys-dir", folder.path, "--config", folder.path + "/offers.yaml",
            ])
            #expect(outcome.status == status, "\(text): \(outcome.standardError)")
        }
    }
}
