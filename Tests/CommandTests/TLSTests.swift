import Foundation
import OfferCrypto
import TestSupport
import Testing

/// TLS and HTTP/2, tested with curl and openssl.
@Suite("TLS", .serialized, .timeLimit(.minutes(5)))
struct TLSTests {
    private static let offer = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"u"}"#

    /// The common name of the service's certificate.
    private static func shownName(by service: RunningService) throws -> String {
        let shown = try Command.run(
            "openssl", ["s_client", "-connect", "127.0.0.1:\(service.port)"], input: Array("Q\n".utf8))
        let subject = shown.standardOutput.split(separator: "\n").first { $0.hasPrefix("subject=") } ?? ""
        return subject.split(separator: "=").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
    }

    @Test("TLS 1.2 uses AEAD cipher suites only")
    func cipherSuites() throws {
        let pair = try CertificatePair()
        let service = try RunningService(arguments: pair.arguments)
        for (suites, isAccepted) in [
            ("ECDHE+AESGCM", true), ("ECDHE+CHACHA20", true), ("ECDHE+AES:!AESGCM:!AESCCM", false), ("AES", true),
            ("kRSA", false),
        ] {
            let answer = try pair.curl(["--tls-max", "1.2", "--ciphers", suites, "-d", Self.offer], of: service)
            #expect(answer.isEmpty != isAccepted, "\(suites): \(answer)")
        }
    }

    @Test(
        "HTTP/1.1 and HTTP/2 over TLS 1.2 and 1.3 give the same responses as plain HTTP",
        arguments: [("--http1.1", "1.1"), ("--http2", "2")])
    func versions(flag: String, version: String) throws {
        let pair = try CertificatePair()
        let service = try RunningService(arguments: pair.arguments + ["--log-level", "debug"])
        let post = [flag, "-H", "Content-Type: application/json", "-w", " %{http_version} %{http_code}"]
        for tls in [[], ["--tls-max", "1.2"]] {
            let answer = try pair.curl(post + tls + ["-d", Self.offer], of: service)
            #expect(answer.hasSuffix(" \(version) 200"), "\(answer)")
            let json = try #require(answer.split(separator: " ").first)
            let members = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
            let nonce = try #require(members["nonce"] as? String)
            let timestamp = try #require(members["timestamp"] as? Int)
            let payload = ["a", RunningService.keyID, "p", "o", "u", nonce, "\(timestamp)"].joined(
                separator: "\u{2063}")
            let signature = try #require(Data(base64Encoded: members["signature"] as? String ?? ""))
            #expect(try service.verifyingKey.verify(Array(signature), of: Array(payload.utf8)))
        }
        #expect(try pair.curl([flag, "--tls-max", "1.1", "-d", Self.offer], of: service).isEmpty)
        for (arguments, path, status) in [
            (["-d", "{"], "/offer", "400"), (["-X", "DELETE"], "/offer", "405"), ([], "/nothing", "404"),
            (["-d", String(repeating: " ", count: 40000)], "/offer", "413"),
            (["-H", "Expect: 100-continue", "-d", Self.offer], "/offer", "200"), (["-I"], "/health/live", "200"),
            (["-H", "Content-Type: text/plain", "-d", Self.offer], "/offer", "415"),
        ] {
            let answer = try pair.curl(post + arguments, path: path, of: service)
            #expect(answer.hasSuffix(" \(version) \(status)"), "\(arguments): \(answer)")
        }
        for (arguments, path) in [
            (["-d", Self.offer], "/offer"), ([], "/nothing"), (["-d", String(repeating: " ", count: 40000)], "/offer"),
        ] {
            let named = try pair.curl(
                post + arguments + ["-D", "-", "-H", "X-Request-ID: mine"], path: path, of: service)
            #expect(named.firstMatch(of: /\r\nx-request-id: mine\r\n/.ignoresCase()) != nil, "\(named)")
            let twice = try pair.curl(
                post + arguments + ["-D", "-", "-H", "X-Request-ID: a", "-H", "X-Request-ID: b"], path: path,
                of: service)
            #expect(twice.firstMatch(of: /\r\nx-request-id: [0-9a-f]{16}\r\n/.ignoresCase()) != nil, "\(twice)")
        }
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        _ = try pair.curl([flag, "-H", "traceparent: 00-\(trace)-00f067aa0ba902b7-01"], path: "/nothing", of: service)
        #expect(try service.log.contains("traceID=\"\(trace)\""))
        #expect(service.stop() == 0)
    }

    @Test("300 HTTP/2 requests, 100 at a time, are all answered over at most two connections")
    func manyStreams() throws {
        let pair = try CertificatePair()
        let service = try RunningService(arguments: pair.arguments)
        let answers = try Command.run(
            "curl",
            [
                "-sS", "--http2", "-Z", "--parallel-max", "100", "--cacert", pair.path, "-w",
                "%{http_version} %{num_connects}\n",
                "-o", "/dev/null", "https://127.0.0.1:\(service.port)/health/live?[1-300]",
            ]
        ).standardOutput.split(separator: "\n")
        #expect(answers.count == 300)
        #expect(answers.allSatisfy { $0.hasPrefix("2 ") })
        #expect(answers.compactMap { Int($0.dropFirst(2)) }.reduce(0, +) <= 2)
        #expect(service.stop() == 0)
    }

    @Test("SIGHUP loads a new certificate; an invalid one is reported and the old one stays")
    func renewal() async throws {
        let pair = try CertificatePair()
        let service = try RunningService(arguments: pair.arguments)
        #expect(try Self.shownName(by: service) == "first")
        try pair.renew(name: "second")
        try service.reload()
        try await waitUntil { try Self.shownName(by: service) == "second" }

        // In turn: another certificate's key, a key that others can read, a missing certificate, one that expires soon.
        let certificate = try pair.folder.read("cert.pem")
        let secret = try pair.folder.read("key.pem")
        try pair.renew(name: "third")
        try pair.folder.write(certificate, to: "cert.pem")
        try await Self.expect("does not belong to the certificate", service, pair)
        try pair.folder.write(secret, to: "key.pem")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: pair.keyPath)
        try await Self.expect("can be read by others", service, pair)
        try FileManager.default.removeItem(atPath: pair.path)
        try await Self.expect("does not exist", service, pair)
        #expect(try Self.shownName(by: service) == "second")
        try pair.renew(name: "fourth", days: 1)
        try await Self.expect("the TLS certificate expires at", service, pair)
        #expect(try Self.shownName(by: service) == "fourth")
        #expect(service.stop() == 0)
    }

    /// Reloads the service, and waits until it reports a problem.
    private static func expect(_ problem: String, _ service: RunningService, _ pair: CertificatePair) async throws {
        try service.reload()
        try await waitUntil { try pair.curl(["-k"], path: "/health/ready", of: service).contains(problem) }
    }

    @Test("a service with a missing or wrong TLS file or an expired certificate does not start")
    func doesNotStart() throws {
        let pair = try CertificatePair()
        let folder = try TemporaryFolder()
        func problem(_ arguments: [String]) throws -> String {
            let outcome = try Command.runOfferSigner(
                ["serve", "--development", "--port", "0", "--keys-dir", folder.path] + arguments)
            #expect(outcome.status == 1)
            return outcome.standardError
        }
        #expect(try problem(["--tls-certificate", pair.path]).contains("only one of"))
        #expect(
            try problem(["--tls-certificate", pair.keyPath, "--tls-key", pair.keyPath]).contains(
                "is not a PEM certificate"))
        #expect(
            try problem(["--tls-certificate", pair.path, "--tls-key", pair.path]).contains("is not a PEM private key"))
        let expired = try Command.run(
            "openssl",
            [
                "x509", "-in", pair.path, "-signkey", pair.keyPath, "-out", pair.path, "-days", "-1",
            ])
        #expect(expired.status == 0)
        #expect(try problem(pair.arguments).contains("the TLS certificate expired"))
    }
}
