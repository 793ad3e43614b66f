import AppStoreData
import TestSupport
import Testing

@testable import SubscriberSync

@Suite("OCSP client")
struct OCSPClientTests {
    /// - Parameter timeout: by default, so long that it only ends a hung test.
    private func ask(_ url: String, timeout: Duration = .seconds(600)) async throws -> OCSPReply {
        let client = OCSPClient(timeout: timeout)
        do {
            let reply = try await client.transport(url, [0x30, 0x00])
            await client.close()
            return reply
        } catch {
            await client.close()
            throw error
        }
    }

    @Test("a response is returned whole, whatever its status", arguments: [200, 404, 500])
    func response(status: Int) async throws {
        let server = try await KeyServer("")
        server.answer(KeyServer.Response(status: status, body: "answer"))
        #expect(try await ask(server.url) == OCSPReply(status: status, body: Array("answer".utf8)))
    }

    @Test("a redirect is not followed")
    func redirect() async throws {
        let (server, target) = (try await KeyServer(""), try await KeyServer("answer"))
        server.answer(KeyServer.Response(status: 302, body: "", location: target.url))
        #expect(try await ask(server.url).status == 302)
        #expect(target.requests == 0)
    }

    @Test("a response of a megabyte is read, a larger one is not")
    func size() async throws {
        let server = try await KeyServer(String(repeating: "a", count: 1 << 20))
        #expect(try await ask(server.url).body.count == 1 << 20)
        server.answer(KeyServer.Response(body: String(repeating: "a", count: (1 << 20) + 1)))
        let failure = OCSPTransportFailure("the OCSP responder sent more than 1048576 bytes")
        await #expect(throws: failure) { try await ask(server.url) }
    }

    @Test(
        "a responder that is silent or never finishes is given up",
        // At ten bytes a second, the second one needs a day.
        arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"])
    func slow(beginning: String) async throws {
        let port = try await SlowServer.start(after: beginning)
        let failure = OCSPTransportFailure("the OCSP responder sent no complete response in time")
        await #expect(throws: failure) {
            try await ask("http://127.0.0.1:\(port)/", timeout: .milliseconds(300))
        }
    }

    @Test("a responder that refuses connections cannot be reached")
    func refused() async throws {
        let port = try await FreePort.find()
        let failure = OCSPTransportFailure("the OCSP responder refused the connection")
        await #expect(throws: failure) { try await ask("http://127.0.0.1:\(port)/") }
    }
}
