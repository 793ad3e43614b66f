import Foundation
import OfferCore
import OfferCrypto
import OfferEligibility
import TestSupport
import Testing

/// What a running service logs, and what it never logs.
@Suite("Logs of the service", .timeLimit(.minutes(5)))
struct LogsTests {
    private static func sign(_ service: RunningService, id: String) async throws {
        let answer = try await service.post("/offer", BadRequest.goodBody, headers: "X-Request-ID: \(id)\r\n")
        #expect(answer.headers["x-request-id"] == id)
    }

    @Test("SIGHUP raises and lowers the log level and logs each change; a new format needs a restart")
    func reload() async throws {
        let service = try RunningService(environment: ["SUBSCRIPTION_OFFERS_LOG_LEVEL": "warning"])
        try await Self.sign(service, id: "at-warning")
        #expect(try service.log.split(separator: "\n").allSatisfy { $0.contains(" warning no caller is configured") })
        try service.reload("SUBSCRIPTION_OFFERS_LOG_LEVEL=debug")
        try await waitUntil { try service.log.contains(#" notice log level changed from="warning" to="debug""#) }
        try await Self.sign(service, id: "at-debug")
        try await waitUntil { try service.log.contains(#"requestID="at-debug""#) }
        try service.reload("SUBSCRIPTION_OFFERS_LOG_LEVEL=error", "SUBSCRIPTION_OFFERS_LOG_FORMAT=json")
        try await waitUntil { try service.log.contains("SUBSCRIPTION_OFFERS_LOG_FORMAT has changed since startup") }
        #expect(try service.log.contains(#" notice log level changed from="debug" to="error""#))
        try await Self.sign(service, id: "at-error")
        #expect(service.stop() == 0)
        #expect(try !service.log.contains("at-warning") && !service.log.contains("at-error"))
    }

    @Test("a log level set by a flag overrides the environment")
    func flag() async throws {
        let service = try RunningService(arguments: ["--log-level", "notice"])
        try service.reload("SUBSCRIPTION_OFFERS_LOG_LEVEL=trace")
        try await waitUntil { try service.log.ranges(of: "keys in force").count == 2 }
        try await Self.sign(service, id: "marked")
        #expect(service.stop() == 0)
        #expect(try !service.log.contains("log level changed") && !service.log.contains("marked"))
    }

    /// Request values that must never be logged.
    private struct Marks {
        /// A string that most other values contain, as text or base64.
        let part = "mArk3d"
        let token = "mArk3d-token-of-the-backend"
        let otherToken = "mArk3d-token-in-the-environment"
        let username = "mArk3d-user@example.com"
        let accountToken = "d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10"
        let transactionID = "2000000987654321"
        let signature = Data("mArk3d-signature".utf8).base64EncodedString()
        let pem = "-----BEGIN PRIVATE KEY-----\\nmArk3dMIGHAgEAMBMGByqGSM49\\n-----END PRIVATE KEY-----"
        let jws = ["{\"alg\":\"ES256\",\"kid\":\"mArk3d\"}", "{\"nonce\":\"mArk3d\"}", "mArk3d"]
            .map { Data($0.utf8).base64URL }.joined(separator: ".")

        /// These values in every form in which a log could show them.
        var all: [String] {
            let texts = [part, accountToken, transactionID, "BEGIN PRIVATE"]
            return texts.flatMap { text in
                [text, text.uppercased(), Data(text.utf8).map { "%" + String($0, radix: 16) }.joined()]
                    + Self.base64(text)
            } + [signature, "eyJ"]
        }

        /// The base64 characters that encode `text` at each of the three possible offsets, whatever surrounds it.
        private static func base64(_ text: String) -> [String] {
            (0..<3).map { offset in
                let padded = Data((String(repeating: "x", count: offset) + text).utf8)
                // Drops the characters that depend on the bytes before or after `text`.
                let whole = Array(padded.base64EncodedString().prefix { $0 != "=" })
                return String(whole.dropFirst(offset == 0 ? 0 : offset + 1).dropLast(padded.count % 3 == 0 ? 0 : 1))
            }
        }
    }

    /// Headers whose values try to break or forge a log line.
    private static let forging: [[UInt8]] = ["X-Request-ID", "traceparent", "User-Agent", "mArk3d"].flatMap { name in
        [
            "mArk3d\n2026-01-01T00:00:00.000Z critical forged", "mArk3d\r2026 forged", "mArk3d\u{85}forged",
            "mArk3d\u{2028}forged", "mArk3d\u{1B}[31m forged", "mArk3d\",\"level\":\"forged", "mArk3d\u{0}forged",
            "00-mArk3df3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01~", String(repeating: "mArk3d", count: 11),
        ].map { Array("\(name): \($0)\r\n".utf8) } + [Array("\(name): mArk3d".utf8) + [0xFF, 0xC0, 0x0D, 0x0A]]
    }

    @Test(
        "no marked request value and no signature is logged, even at the most verbose level, and no log line is forged",
        arguments: ["text", "json"])
    func secrets(format: String) async throws {
        let marks = Marks()
        let provider = ProviderKey()
        let folder = try TemporaryFolder()
        try folder.write(ProviderKey.set(provider).utf8, to: "jwks.json")
        let digest = Hexadecimal.text(of: try SHA256.hash(Array(marks.token.utf8)))
        try folder.write(
            """
            apps: [{bundleID: com.example.app, products: [{productID: pro, offers: [offer]}]}]
            users: [{issuer: 'https://id.example.com/', audience: offers, jwks: '\(folder.path)/jwks.json',
                     applicationUsername: sub}]
            callers: [{name: backend, tokenSHA256: \(digest),
                       scopes: [sign, introductory, advanced_commerce, explain, metrics]}]
            limits: {customers: {perSecond: 1000, burst: 1000}, tokens: {perSecond: 1000, burst: 1000}}
            """.utf8, to: "config.yaml")
        let service = try RunningService(
            arguments: [
                "--config", folder.path + "/config.yaml", "--log-level", "trace", "--log-format", format, "--issuer-id",
                Fixtures.issuerText,
            ], environment: ["SUBSCRIPTION_OFFERS_API_TOKENS": "other=\(marks.otherToken)"])
        let expiry = Int(Date.now.timeIntervalSince1970) + 600
        let claims = #"{"iss":"https://id.example.com/","aud":"offers","exp":\#(expiry),"sub":"\#(marks.username)"}"#
        let userToken = try provider.token(claims: claims)
        let credentials =
            [
                marks.token, marks.otherToken, userToken, String(userToken.dropLast(2)), marks.jws, marks.token + "x",
                marks.pem,
            ].map { "Authorization: Bearer \($0)\r\n" } + [""]

        var requests: [[UInt8]] = []
        for credentials in credentials {
            for (path, body) in Self.bodies(marks) {
                for body in [body, body.replacing("\"offer\"", with: "\"mArk3\""), String(body.dropLast())] {
                    requests.append(Self.post(path, credentials, body))
                }
            }
            let query =
                "appBundleID=com.example.app&productID=pro&offerID=offer&applicationUsername=mArk3d%2Duser&\(marks.jws)"
            for target in [
                "/offer?\(query)", "/mArk3d?\(query)", "/offer?%6dArk3d=\(marks.token)", "/health/ready?\(query)",
            ] {
                requests.append(Array("GET \(target) HTTP/1.1\r\nHost: mArk3d\r\n\(credentials)\r\n".utf8))
                requests.append(Array("mArk3d \(target) HTTP/1.1\r\nHost: a\r\n\(credentials)\r\n".utf8))
            }
        }
        for header in Self.forging {
            requests.append(Array("GET /nothing HTTP/1.1\r\nHost: a\r\n".utf8) + header + Array("\r\n".utf8))
            requests.append(Array("GET /nothing HTTP/1.1\r\nHost: a\r\n".utf8) + header + header + Array("\r\n".utf8))
        }
        var given = marks.all
        var statuses: Set<Int> = []
        for request in requests {
            let answer = try await Connection.open(port: service.port) { connection in
                try? await connection.send(request)
                connection.finishSending()
                return try await connection.receive()
            }
            statuses.insert(try #require(answer).status)
            given += Self.secrets(in: try #require(answer).body)
        }
        #expect(statuses.isSuperset(of: [200, 400, 401, 403, 404, 405]))
        #expect(given.count > marks.all.count + 10, "the service has sent signatures")
        #expect(service.stop() == 0)
        let log = try service.log
        #expect(log.contains("offer signed") && log.contains("JWS signed") && log.contains("offer not served"))
        for secret in given { #expect(!log.contains(secret), "\(secret)") }
        for line in log.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            #expect(!line.contains("forged") && Self.isEvent(line, format: format), "\(line)")
        }
    }

    private static func bodies(_ marks: Marks) -> [(path: String, body: String)] {
        let v1 = #""bundleID":"com.example.app","productID":"pro","offerID":"offer""#
        let sample = #""appBundleID":"com.example.app","productIdentifier":"pro","offerID":"offer""#
        let user = #""applicationUsername":"\#(marks.username)""#
        let transaction = #""transactionID":"\#(marks.transactionID)""#
        return [
            ("/offer", "{\(sample),\(user)}"), ("/offer", #"{\#(sample),"appAccountToken":"\#(marks.accountToken)"}"#),
            ("/offer", #"{\#(sample),"applicationUsername":"\#(marks.pem)"}"#),
            ("/offer", #"{\#(sample),"mArk3d":"\#(marks.pem)","signature":"\#(marks.signature)"}"#),
            ("/v1/promotional-offers", "{\(v1),\(user),\(transaction)}"),
            (
                "/v1/promotional-offers",
                #"{"offers":[{\#(v1),\#(user)},{\#(v1),\#(transaction)},{"mArk3d":1},"mArk3d"]}"#
            ),
            ("/v1/introductory-offers", "{\(v1),\"allowIntroductoryOffer\":true,\(transaction)}"),
            (
                "/v1/introductory-offers",
                #"{"bundleID":"com.example.app","productID":"pro","allowIntroductoryOffer":true,\#(transaction)}"#
            ),
            ("/v1/advanced-commerce", #"{"bundleID":"com.example.app","request":{"mArk3d":"\#(marks.pem)"}}"#),
            ("/v1/explanations", #"{"compactJWS":"\#(marks.jws)"}"#),
            (
                "/v1/explanations",
                "{\(v1),\(user),\"keyID\":\"mArk3d\",\"nonce\":\"mArk3d\",\"timestamp\":1,\"signature\":\"\(marks.signature)\"}"
            ),
        ]
    }

    private static func post(_ path: String, _ headers: String, _ body: String) -> [UInt8] {
        Array(
            """
            POST \(path) HTTP/1.1\r\nHost: a\r\n\(headers)Content-Type: application/json\r
            Content-Length: \(body.utf8.count)\r\n\r\n\(body)
            """.utf8)
    }

    /// The signatures and JWS parts in a response.
    private static func secrets(in body: [UInt8]) -> [String] {
        String(decoding: body, as: UTF8.self)
            .matches(of: /"(?:signature|compactJWS)":"([^"]+)"/).flatMap { match in
                match.output.1.split(separator: ".").map(String.init)
            }
    }

    private static func isEvent(_ line: Substring, format: String) -> Bool {
        let (time, level) = (/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, /trace|debug|info|notice|warning|error|critical/)
        guard format == "json" else {
            let words = line.split(separator: " ")
            return words.count > 2 && words[0].wholeMatch(of: time) != nil && words[1].wholeMatch(of: level) != nil
        }
        let members = try? JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        return members?["time"]?.wholeMatch(of: time) != nil && members?["level"]?.wholeMatch(of: level) != nil
            && members?["message"]?.isEmpty == false
    }
}
