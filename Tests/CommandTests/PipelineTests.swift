import Foundation
import TestSupport
import Testing

/// Many pipelined requests on one connection, from clients that read responses slowly.
@Suite("Pipelines", .timeLimit(.minutes(5)))
struct PipelineTests {
    private let service: RunningService

    init() throws {
        service = try RunningService()
    }

    private static func get(_ path: String, _ header: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(header)\r\n"
    }

    /// Sends the requests, waits for the server's socket buffer to fill up, and returns the statuses of all responses.
    private func statuses(of requests: String, halfCloses: Bool = false) async throws -> [Int] {
        try await Connection.open(port: service.port) { connection in
            try await connection.send(requests)
            if halfCloses { connection.finishSending() }
            try await Task.sleep(for: .milliseconds(500))
            var statuses: [Int] = []
            while let answer = try await connection.receive() { statuses.append(answer.status) }
            return statuses
        }
    }

    @Test(
        "requests after one that closes the connection are not answered, wherever that one is in the pipeline",
        arguments: [0, 1, 62, 63, 64, 65, 127, 128])
    func lastAnswer(others: Int) async throws {
        let before =
            String(repeating: Self.get("/openapi.json"), count: 64) + String(repeating: Self.get("/x"), count: others)
        let expected = Array(repeating: 200, count: 64) + Array(repeating: 404, count: others)
        #expect(try await statuses(of: before + "GET / HTTP/1.1\nHost: a\n\n" + Self.get("/x")) == expected + [400])
        let last = Self.get("/health/live", "Connection: close\r\n")
        let more = String(repeating: Self.get("/health/live"), count: 5)
        #expect(try await statuses(of: before + last + more) == expected + [200])
    }

    @Test(
        "a client that half-closes and reads slowly still gets all its responses",
        arguments: [false, true])
    func halfClosed(saysClose: Bool) async throws {
        // About 10 MB, more than the kernel buffers.
        var requests = String(repeating: Self.get("/openapi.json"), count: 149)
        requests += Self.get("/openapi.json", saysClose ? "Connection: close\r\n" : "")
        #expect(try await statuses(of: requests, halfCloses: true) == Array(repeating: 200, count: 150))
    }

    @Test("an asynchronous response is sent before the responses to later requests")
    func laterResponse() async throws {
        let evidence = #"{"compactJWS":"e30.e30.e30"}"#
        let explain =
            "POST /v1/explanations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(evidence.utf8.count)\r\n\r\n\(evidence)"
        try await Connection.open(port: service.port) { connection in
            for _ in 0..<20 {
                try await connection.send(explain + Self.get("/health/live") + explain + Self.get("/x"))
                var answers: [String] = []
                for _ in 0..<4 {
                    let answer = try #require(try await connection.receive())
                    answers.append(answer.text)
                }
                #expect(answers[0].contains("verifies") && answers[2].contains("verifies"))
                #expect(answers[1].contains("live") && answers[3].contains("not_found"))
            }
        }
    }

    @Test("after a HEAD, the response to a malformed request has its whole body")
    func afterHead() async throws {
        for rest in ["\u{16}\u{3}\u{1}", "GET /x HTTP/1.1\nHost: a\n\n"] {
            try await Connection.open(port: service.port) { connection in
                try await connection.send("HEAD /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try await connection.receiveHead()?.status == 200)
                try await connection.send(rest)
                let answer = try #require(try await connection.receive())
                #expect(answer.status == 400 && !answer.body.isEmpty)
            }
        }
    }

    @Test("memory does not grow when a connection always holds part of the next request")
    func neverEmpty() async throws {
        let request = Self.get("/health/live", "X: \(String(repeating: "x", count: 7000))\r\n")
        try await Connection.open(port: service.port) { connection in
            try await connection.send("G")
            let shifted = request.dropFirst() + "G"
            var before = 0
            for number in 0..<6000 {
                try await connection.send(String(shifted))
                try #require(try await connection.receive()?.status == 200)
                if number == 1000 { before = try service.residentKilobytes }
            }
            // The client has sent 35 MB since then.
            #expect(try service.residentKilobytes - before < 8000)
        }
    }
}
