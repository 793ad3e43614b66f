import Foundation
import OfferAudit
import OfferCrypto
import TestSupport
import Testing

/// Users over a socket, with key changes while the service runs.
@Suite("Users over HTTP", .timeLimit(.minutes(5)))
struct UsersTests {
    private static func claims(issuer: String = "https://id.example.com/", user: String = "marked-user") -> String {
        let expiry = Int(Date.now.timeIntervalSince1970) + 600
        return #"{"iss":"\#(issuer)","aud":"com.example.offers","exp":\#(expiry),"sub":"\#(user)"}"#
    }

    private static func file(
        jwks: String, issuer: String = "https://id.example.com/", customer: String = "applicationUsername: sub"
    ) -> String {
        "users: [{issuer: '\(issuer)', audience: com.example.offers, jwks: '\(jwks)', \(customer)}]"
    }

    /// Starts a service with a configuration file in `folder`.
    private static func start(
        jwks: (_ folder: TemporaryFolder) throws -> String, folder: TemporaryFolder
    ) throws -> RunningService {
        try folder.write(file(jwks: jwks(folder)).utf8, to: "config.yaml")
        return try RunningService(
            arguments: ["--config", folder.path + "/config.yaml", "--log-level", "trace"]
                + ["--metrics-address", "127.0.0.1:0"])
    }

    private static func offer(_ service: RunningService, _ token: String?) async throws -> ReceivedResponse {
        let headers = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let body = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o"}"#
        return try await service.post("/offer", body, headers: headers)
    }

    /// Waits until a request with this token gets `status`.
    private static func wait(_ service: RunningService, _ token: String?, for status: Int) async throws {
        try await waitUntil { try await offer(service, token).status == status }
    }

    private static func waitForHealth(_ service: RunningService, _ isAsExpected: (String) -> Bool) async throws {
        try await waitUntil { isAsExpected(try await service.health) }
    }

    @Test("the service follows a key file that is rotated, damaged, removed and restored")
    func file() async throws {
        let (old, new) = (ProviderKey(kid: "old"), ProviderKey(kid: "new"))
        let (ofOld, ofNew) = try (old.token(claims: Self.claims()), new.token(claims: Self.claims()))
        let folder = try TemporaryFolder()
        let service = try Self.start(
            jwks: { folder in
                try folder.write(ProviderKey.set(old).utf8, to: "jwks.json")
                return folder.path + "/jwks.json"
            }, folder: folder)
        try await Self.wait(service, ofOld, for: 200)
        #expect(try await Self.offer(service, ofOld).text.hasSuffix(#""applicationUsername":"marked-user"}"#))
        #expect(try await Self.offer(service, ofNew).status == 401)
        #expect(try await Self.offer(service, nil).status == 401)
        #expect(try await service.health.hasPrefix(#"{"status":"ready""#))

        try folder.drop(ProviderKey.set(old, new).utf8, as: "jwks.json")
        try await Self.wait(service, ofNew, for: 200)
        #expect(try await Self.offer(service, ofOld).status == 200)
        try folder.drop(ProviderKey.set(new).utf8, as: "jwks.json")
        try await Self.wait(service, ofOld, for: 401)

        // A malformed or missing file affects only readiness.
        try folder.drop("{".utf8, as: "jwks.json")
        try await Self.waitForHealth(service) { $0.contains("degraded") && $0.contains("is not a key set") }
        #expect(try await Self.offer(service, ofNew).status == 200)
        try folder.remove("jwks.json")
        try await Self.waitForHealth(service) { $0.contains("does not exist") }
        #expect(try await Self.offer(service, ofNew).status == 200)
        let leak = try ProviderKey.set([new.jwk(["d": "marked"])])
        try folder.drop(leak.utf8, as: "jwks.json")
        try await Self.waitForHealth(service) { $0.contains("contains a private or symmetric key") }
        #expect(
            try await Self.offer(service, ofNew).status == 503, "anyone with that private key could impersonate a user")
        try folder.drop(ProviderKey.set(new).utf8, as: "jwks.json", mode: 0o620)
        try await Self.waitForHealth(service) {
            $0.hasPrefix(#"{"status":"degraded""#) && $0.contains("can be written by others (mode 620)")
        }
        #expect(try await Self.offer(service, ofNew).status == 200)
        try folder.drop(ProviderKey.set(new).utf8, as: "jwks.json")
        try await Self.waitForHealth(service) { $0.hasPrefix(#"{"status":"ready""#) }
        try folder.drop(#"{"keys":[]}"#.utf8, as: "jwks.json")
        try await Self.waitForHealth(service) { $0.contains("has no key") }
        #expect(try await Self.offer(service, ofNew).status == 503)
        #expect(service.stop() == 0)
        let log = try service.log
        #expect(!log.contains("marked") && !log.contains("eyJ"))
        #expect(log.components(separatedBy: "is not a key set").count == 3, "logged when reported and when resolved")
    }

    @Test("keys at a URL are retried at startup, fetched again for an unknown kid, and kept when the server fails")
    func url() async throws {
        let (old, new) = (ProviderKey(kid: "old"), ProviderKey(kid: "new"))
        let (ofOld, ofNew) = try (old.token(claims: Self.claims()), new.token(claims: Self.claims()))
        let server = try await KeyServer("")
        server.answer(.init(status: 503, body: ""))
        let service = try Self.start(jwks: { _ in server.url }, folder: TemporaryFolder())
        try await Self.waitForHealth(service) { $0.contains("degraded") && $0.contains("status 503") }
        let unavailable = try await Self.offer(service, ofOld)
        #expect(unavailable.status == 503 && unavailable.headers["retry-after"] != nil)
        #expect(unavailable.text.contains("users_unavailable"))

        // The second attempt comes after five seconds.
        server.answer(.init(body: try ProviderKey.set(old)))
        try await Self.wait(service, ofOld, for: 200)
        #expect(try await service.health.hasPrefix(#"{"status":"ready""#))
        let had = server.requests
        let start = ContinuousClock.now
        /// The maximum number of fetches for unknown keys since `start`: one, and one more every 30 s.
        func mayHaveRequested() -> Int { 1 + Int((.now - start) / .seconds(30)) }

        // Nothing is fetched until a token names an unknown key.
        server.answer(.init(body: try ProviderKey.set(old, new)))
        try await Task.sleep(for: .seconds(3))
        #expect(server.requests == had)
        try await Self.wait(service, ofNew, for: 200)
        #expect(server.requests > had && server.requests <= had + mayHaveRequested())
        #expect(try await Self.offer(service, ofOld).status == 200)

        // More tokens with unknown keys cause no more fetches.
        server.answer(.init(status: 500, body: ""))
        let nobodys = try ProviderKey(kid: "nobody's").token(claims: Self.claims())
        for _ in 0..<50 { #expect(try await Self.offer(service, nobodys).status == 401) }
        try await Task.sleep(for: .seconds(3))
        #expect(server.requests <= had + mayHaveRequested())
        try await Self.waitForHealth(service) { $0.contains("degraded") && $0.contains("status 500") }
        #expect(server.requests <= had + mayHaveRequested(), "at most one fetch per 30 seconds")
        #expect(try await Self.offer(service, ofNew).status == 200, "the previous keys stay in force")
        #expect(service.stop() == 0)
        #expect(try !service.log.contains("marked") && !service.log.contains("eyJ"))
    }

    @Test("SIGHUP can add users and then remove callers, but cannot remove both")
    func reload() async throws {
        let key = ProviderKey()
        let token = try key.token(claims: Self.claims())
        let service = try RunningService(arguments: ["--metrics-address", "127.0.0.1:0"])
        let tokens = "SUBSCRIPTION_OFFERS_API_TOKENS=backend=token-of-a-caller"
        try service.reload(tokens)
        try await Self.wait(service, token, for: 401)
        #expect(
            try await Self.offer(service, "token-of-a-caller").status == 400,
            "the token is valid, but the request names no customer")
        try service.keys.write(ProviderKey.set(key).utf8, to: "jwks.json")
        try service.configure(Self.file(jwks: service.keys.path + "/jwks.json"))
        let config = service.configurationSetting
        try service.reload(config, tokens)
        try await Self.wait(service, token, for: 200)
        #expect(try await Self.offer(service, "token-of-a-caller").status == 400)

        // An empty variable is a mistake, not a way to remove the callers.
        try service.reload(config, "SUBSCRIPTION_OFFERS_API_TOKENS=")
        try await Self.waitForHealth(service) { $0.contains("SUBSCRIPTION_OFFERS_API_TOKENS is set but empty") }
        #expect(try await Self.offer(service, "token-of-a-caller").status == 400)

        // With users alone, nobody else can request signatures.
        try service.reload(config)
        try await Self.wait(service, "token-of-a-caller", for: 401)
        #expect(try await Self.offer(service, token).status == 200)
        #expect(try await Self.offer(service, nil).status == 401)

        // Removing the users too would open the service to everyone.
        try service.reload()
        try await Self.waitForHealth(service) { $0.contains("anyone could request signatures") }
        #expect(try await Self.offer(service, nil).status == 401)
        #expect(try await Self.offer(service, token).status == 200)

        // Another issuer replaces the first.
        try service.configure(Self.file(jwks: service.keys.path + "/jwks.json", issuer: "another"))
        try service.reload(config)
        try await Self.wait(service, token, for: 401)
        let ofAnother = try key.token(claims: Self.claims(issuer: "another"))
        try await Self.wait(service, ofAnother, for: 200)
        #expect(service.stop() == 0)
    }

    @Test("SIGHUP cannot change how users are identified, but can change where their keys are")
    func customersStay() async throws {
        let key = ProviderKey()
        let token = try key.token(claims: Self.claims())
        let service = try RunningService(arguments: ["--metrics-address", "127.0.0.1:0"])
        let jwks = service.keys.path + "/jwks.json"
        func apply(jwks: String, customer: String = "hashedUsername: sub", salt: String = "a salt of enough bytes")
            throws
        {
            try service.configure(Self.file(jwks: jwks, customer: customer))
            try service.reload(service.configurationSetting, "SUBSCRIPTION_OFFERS_USERNAME_SALT=" + salt)
        }
        try service.keys.write(ProviderKey.set(key).utf8, to: "jwks.json")
        try apply(jwks: jwks)
        try await Self.wait(service, token, for: 200)
        let before = try await Self.username(service, token)

        try apply(jwks: jwks, salt: "another salt of enough bytes")
        try await Self.waitForHealth(service) { $0.contains("USERNAME_SALT has changed") }
        for claim in ["hashedUsername: iss", "applicationUsername: sub"] {
            try apply(jwks: jwks, customer: claim)
            try await Self.waitForHealth(service) { $0.contains("by another claim") }
            #expect(try await Self.username(service, token) == before)
            try apply(jwks: jwks)
            try await Self.waitForHealth(service) { $0.hasPrefix(#"{"status":"ready""#) }
        }

        try apply(jwks: jwks + ".typo")
        try await Self.waitForHealth(service) { $0.contains("jwks.json.typo does not exist") }
        // The keys of the old location are no longer trusted.
        #expect(try await Self.offer(service, token).status == 503)
        try apply(jwks: jwks)
        try await Self.wait(service, token, for: 200)
        #expect(try await Self.username(service, token) == before)
        #expect(service.stop() == 0)
    }

    private static func username(_ service: RunningService, _ token: String) async throws -> String? {
        try await offer(service, token).json["applicationUsername"] as? String
    }

    @Test("an environment file with a salt must be private, and doctor never prints the salt")
    func salt() throws {
        let folder = try TemporaryFolder()
        try folder.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_2X9R4HXF34.p8")
        try folder.write(ProviderKey.set(ProviderKey()).utf8, to: "jwks.json")
        let users = "[{issuer: a, audience: b, jwks: '\(folder.path)/jwks.json', hashedUsername: sub}]"
        try folder.write("users: \(users)".utf8, to: "config.yaml")
        for (mode, status) in [(0o600, Int32(0)), (0o640, 1)] {
            try folder.write(
                "SUBSCRIPTION_OFFERS_KEY_ID=2X9R4HXF34\nSUBSCRIPTION_OFFERS_USERNAME_SALT=marked-marked-marked\n".utf8,
                to: "env", mode: mode)
            let outcome = try doctor(folder, "--env-file", folder.path + "/env")
            #expect(outcome.status == status, "\(outcome.standardError)")
            #expect(!(outcome.standardError + outcome.standardOutput).contains("marked"))
            #expect(status == 0 || outcome.standardError.contains("SUBSCRIPTION_OFFERS_USERNAME_SALT"))
        }
    }

    private func doctor(_ folder: TemporaryFolder, _ arguments: String...) throws -> Command.Outcome {
        try Command.runOfferSigner(
            ["doctor", "--keys-dir", folder.path, "--config", folder.path + "/config.yaml"] + arguments)
    }

    @Test("doctor checks files of users' keys and says that it does not fetch keys from URLs")
    func doctor() async throws {
        let folder = try TemporaryFolder()
        try folder.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_2X9R4HXF34.p8")
        let rsa = try ProviderKey.make(for: "RS256")
        for (text, error) in [
            (try ProviderKey.set(rsa), nil), (try ProviderKey.set(rsa), "can be written by others (mode 602)"),
            (nil, "does not exist"), ("{", "is not a key set"),
            (#"{"keys":[]}"#, "has no key"), (try ProviderKey.set([rsa.jwk(["d": "marked"])]), "contains a private"),
            (try ProviderKey.set([rsa.jwk(["alg": "PS512"])]), "no key in"),
        ] as [(String?, String?)] {
            let mode = error?.contains("mode 602") == true ? 0o602 : 0o644
            if let text {
                try folder.write(text.utf8, to: "jwks.json", mode: mode)
            } else {
                try folder.remove("jwks.json")
            }
            try folder.write(Self.file(jwks: folder.path + "/jwks.json").utf8, to: "config.yaml")
            let outcome = try doctor(folder, "--key-id", "2X9R4HXF34")
            #expect(outcome.status == (error == nil ? 0 : 1), "\(outcome.standardError)")
            #expect(
                outcome.standardError.contains(error ?? "") == (error != nil)
                    && !outcome.standardError.contains("marked"))
        }
        let server = try await KeyServer("")
        try folder.write(Self.file(jwks: server.url + "?key=marked").utf8, to: "config.yaml")
        let outcome = try doctor(folder, "--key-id", "2X9R4HXF34")
        #expect(outcome.status == 0 && outcome.standardOutput.contains("would be fetched from \(server.url);"))
        #expect(server.requests == 0)
    }
}
