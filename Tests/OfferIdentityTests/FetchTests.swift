import Foundation
import OfferCore
import OfferIdentity
import TestSupport
import Testing

@Suite("Fetching key sets", .timeLimit(.minutes(30)))
struct FetchTests {
    /// - Parameter timeout: Short only where the test waits for it, because a busy machine may take seconds to send a body.
    private static func fetch(_ url: String, timeout: Duration = .seconds(120)) async -> Result<String, Diagnostic> {
        let reader = KeySetReader(timeout: timeout) { _, _ in KeySetText([]) }
        let result: Result<String, Diagnostic>
        do throws(KeySetFault) {
            result = .success(String(decoding: try await reader.text(at: .url(url)).bytes, as: UTF8.self))
        } catch {
            #expect(error.kind == .unavailable)
            result = .failure(error.problem)
        }
        await reader.close()
        return result
    }

    @Test("a response body is returned unchanged, up to 256 kB")
    func answers() async throws {
        let server = try await KeyServer("text")
        #expect(await Self.fetch(server.url) == .success("text"))
        let most = String(repeating: "x", count: KeySetReader.maximumSize)
        server.answer(.init(body: most))
        #expect(await Self.fetch(server.url) == .success(most))
        server.answer(.init(body: most + "x"))
        guard case .failure(let problem) = await Self.fetch(server.url) else {
            Issue.record("a response over the limit was accepted")
            return
        }
        #expect(problem.error.contains("more than 262144 bytes"))
    }

    @Test("only status 200 is accepted, and redirects are not followed", arguments: [204, 301, 302, 307, 404, 500])
    func statuses(status: Int) async throws {
        let (server, other) = (try await KeyServer("text"), try await KeyServer("other"))
        server.answer(.init(status: status, body: "", location: other.url))
        guard case .failure(let problem) = await Self.fetch(server.url) else {
            Issue.record("a response with status \(status) was accepted")
            return
        }
        #expect(
            problem.error
                == "users' keys could not be fetched from \(server.url): the server answered with HTTP status \(status)"
        )
        #expect(other.requests == 0)
    }

    @Test("a response that trickles in or never arrives times out")
    func slow() async throws {
        for drip in ["", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"] {
            let port = try await SlowServer.start(after: drip)
            guard case .failure(let problem) = await Self.fetch("http://127.0.0.1:\(port)/", timeout: .seconds(2))
            else {
                Issue.record("the response arrived")
                return
            }
            #expect(problem.error.contains("no complete response in time"))
        }
    }

    @Test(
        "a server with an untrusted certificate, or with TLS older than 1.2, is refused",
        arguments: [
            ([], "has a TLS certificate that is not trusted"),
            (["-tls1_2"], "has a TLS certificate that is not trusted"),
            (["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], "could not negotiate TLS 1.2 or later"),
        ])
    func certificate(options: [String], reason: String) async throws {
        let folder = try TemporaryFolder()
        let made = try Command.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem",
                "-out", "cert.pem", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
            ], directory: folder.url)
        try #require(made.status == 0, "\(made.standardError)")
        let server = try RunningProgram(
            "openssl",
            ["s_server", "-accept", "127.0.0.1:0", "-key", "key.pem", "-cert", "cert.pem", "-www"] + options,
            directory: folder.url)
        defer { server.process.terminate() }
        let port = try server.port { $0.firstMatch(of: /ACCEPT 127\.0\.0\.1:([0-9]+)\n/).flatMap { Int($0.1) } }
        let address = "127.0.0.1:\(port)"
        // The server works: a client that does not check its certificate gets a page.
        let careless = try Command.run(
            "curl", ["-sSk", "--tlsv1.0", "--ciphers", "DEFAULT@SECLEVEL=0", "https://\(address)/"])
        #expect(careless.status == 0, "\(careless.standardError)")
        guard case .failure(let problem) = await Self.fetch("https://\(address)/") else {
            Issue.record("anyone could impersonate the identity provider")
            return
        }
        #expect(problem.error.hasSuffix(": the server \(reason)"), "\(problem.error)")
    }

    @Test("a failed fetch is reported with its reason but without the URL's query")
    func nobody() async throws {
        let server = try await KeyServer("text")
        for (url, reason) in [
            ("http://127.0.0.1:1/", "refused the connection"),
            ("https://127.0.0.1:\(server.port)/", "could not negotiate TLS 1.2 or later"),
            ("http://nowhere.invalid/", "was not found by its host name"),
        ] {
            guard case .failure(let problem) = await Self.fetch(url + "?key=marked") else {
                Issue.record("\(url) was fetched")
                return
            }
            #expect(problem.error == "users' keys could not be fetched from \(url): the server \(reason)")
        }
    }
}
