import Foundation
import Testing

@testable import OfferSignerClient

@Suite struct URLSessionTransportTests {
    private func transport(_ proxy: FaultyProxy, scheme: String = "http", timeout: TimeInterval = 15) throws
        -> URLSessionTransport
    {
        URLSessionTransport(server: try #require(URL(string: "\(scheme)://127.0.0.1:\(proxy.port)/")), timeout: timeout)
    }

    private func error(_ transport: URLSessionTransport) async -> OfferError? {
        let client = await Fixtures.client(transport)
        return await failure { () async throws(OfferError) in try await client.offers() }
    }

    // Answers to requests that are repeated close the connection. Otherwise curl may send the next request into a connection that the
    // proxy has just closed, and Foundation on Linux often waits for its answer until the time limit.
    //
    // Half a head is missing here: with it, Foundation on Linux ends the process (NativeProtocol.swift, "no response").
    @Test(
        "what is not an answer of the service is never taken for one",
        arguments: [
            ("", "no_answer"), ("SSH-2.0-OpenSSH_9.6\r\n", "no_answer"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "no_answer"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", "unreadable_answer"),
            ("HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 6\r\n\r\n<html>", "no_answer"),
            ("HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\n<html>", "unreadable_answer"),
        ])
    func garbage(text: String, code: String) async throws {
        let proxy = FaultyProxy(to: 0) { _ in .says(text) }
        defer { proxy.stop() }
        // A missed end of a connection is no answer either.
        let timeout = code == "no_answer" ? 1.0 : 15
        #expect(await error(try transport(proxy, timeout: timeout))?.code.rawValue == code)
    }

    @Test("the service's Retry-After is honoured")
    func retryAfter() async throws {
        let body = #"{"type":"about:blank","title":"T","status":503,"detail":"D","code":"overloaded","requestID":"R"}"#
        let busy =
            "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 2\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
        let proxy = FaultyProxy(to: 0) { _ in .says(busy) }
        defer { proxy.stop() }
        let waits = Counter()
        let client = await Fixtures.client(try transport(proxy), waits: waits)
        let error = await failure { () async throws(OfferError) in try await client.offers() }
        #expect(error?.code == .overloaded && error?.retryAfter == 2)
        #expect(waits.all == [2, 2] && proxy.requests == 3)
    }

    @Test("a server that never answers is given up")
    func silence() async throws {
        let proxy = FaultyProxy(to: 0) { _ in .silence }
        defer { proxy.stop() }
        #expect(await error(try transport(proxy, timeout: 0.2))?.code == .noAnswer)
    }

    @Test("a closed port is no answer")
    func closedPort() async throws {
        let transport = URLSessionTransport(server: try #require(URL(string: "http://127.0.0.1:1")))
        #expect(await error(transport)?.code == .noAnswer)
    }

    @Test("a task that is cancelled stops asking")
    func cancelled() async throws {
        let proxy = FaultyProxy(to: 0) { _ in .silence }
        defer { proxy.stop() }
        let client = await Fixtures.client(try transport(proxy))
        let task = Task { await failure { () async throws(OfferError) in try await client.offers() } }
        while proxy.requests == 0 { await Task.yield() }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(proxy.requests == 1)
    }

    @Test("an answer that arrives byte by byte is read")
    func trickle() async throws {
        let service = try RunningService()
        let proxy = FaultyProxy(to: service.port) { _ in .trickle }
        defer { proxy.stop() }
        let client = await Fixtures.client(try transport(proxy))
        let offer = try await client.offer(productID: Fixtures.productID, offerID: "plain")
        #expect(try await client.sign(offer).signature != nil)
    }

    @Test("a server with a certificate that nobody vouches for gets no request")
    func wrongTLS() async throws {
        let folder = try TemporaryFolder()
        try Program.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            "/CN=127.0.0.1", "-days", "2", "-keyout", folder.path("key"), "-out", folder.path("certificate"),
        ])
        try Program.run(["chmod", "600", folder.path("key")])
        let service = try RunningService(
            arguments: ["--tls-certificate", folder.path("certificate"), "--tls-key", folder.path("key")])
        let client = await Fixtures.client(try service.transport(scheme: "https"))
        let error = await failure { () async throws(OfferError) in try await client.offers() }
        #expect(error?.code == .notSecure, "\(String(describing: error))")
    }
}
