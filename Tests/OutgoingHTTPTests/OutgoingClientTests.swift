import OutgoingHTTP
import TestSupport
import Testing

@Suite("The client for requests to other servers", .timeLimit(.minutes(5)))
struct OutgoingClientTests {
    /// - Parameter limit: so long that it only ends a hung test.
    private func get(
        _ url: String, maximumResponse: Int = 10, ignoresBody: Bool = false, connectLimit: Duration = .seconds(10),
        within limit: Duration = .seconds(600)
    ) async throws(OutgoingFailure) -> IncomingResponse {
        let client = OutgoingClient(connectLimit: connectLimit)
        let request = OutgoingRequest("GET", url, maximumResponse: maximumResponse, ignoresBody: ignoresBody)
        let result: Result<IncomingResponse, OutgoingFailure>
        do throws(OutgoingFailure) { result = .success(try await client.exchange(request, within: limit)) } catch {
            result = .failure(error)
        }
        await client.close()
        return try result.get()
    }

    @Test("a TLS handshake that never ends is given up at the connect limit, before the limit of the request")
    func handshake() async throws {
        let port = try await SlowServer.start(after: "")
        await #expect(throws: OutgoingFailure.timedOut) {
            try await get("https://127.0.0.1:\(port)/", connectLimit: .milliseconds(300))
        }
    }

    @Test("a body above the maximum fails the request, unless only the status matters")
    func size() async throws {
        let server = try await KeyServer("0123456789")
        #expect(try await get(server.url).body.count == 10)
        server.answer(.init(status: 404, body: "0123456789a"))
        await #expect(throws: OutgoingFailure.tooLarge(maximum: 10)) { try await get(server.url) }
        let response = try await get(server.url, ignoresBody: true)
        #expect(response.status == 404 && response.body.isEmpty)
    }

    @Test("headers are found in any case, and the first one counts")
    func headers() {
        let response = IncomingResponse(status: 200, headers: [("retry-after", "1"), ("Retry-After", "2")])
        #expect(response.header("Retry-After") == "1" && response.header("Date") == nil)
    }
}
