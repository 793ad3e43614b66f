import Foundation
import TestSupport
import Testing

/// Many requests at once on one connection, from clients that are slow to take their answers.
@Suite("Pipelines", .timeLimit(.minutes(5)))
struct PipelineTests {
    private let service: RunningService

    init() throws {
        service = try RunningService()
    }

    private static func get(_ path: String, _ header: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: a\r\n\(header)\r\n"
    }

    /// The statuses of all answers, read only when the server has had time to meet a full socket.
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
        "nothing is answered behind an answer that ends the connection, wherever in the pipeline it comes",
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
        "a client that has ended its half gets all of its answers, however slowly it takes them",
        arguments: [false, true])
    func halfClosed(saysClose: Bool) async throws {
        // Some 10 MB, more than the kernel keeps.
        var requests = String(repeating: Self.get("/openapi.json"), count: 149)
        requests += Self.get("/openapi.json", saysClose ? "Connection: close\r\n" : "")
        #expect(try await statuses(of: requests, halfCloses: true) == Array(repeating: 200, count: 150))
    }

    @Test("what follows a HEAD and cannot be read is answered with a body, as its length says")
    func afterHead() async throws {
        for rest in ["\u{16}\u{3}\u{1}", "GET /x HTTP/1.1\nHost: a\n\n"] {
            try await Connection.open(port: service.port) { connection in
                try await connection.send("HEAD /health/live HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await connection.receiveHead()?.status == 200)
                try await connection.send(rest)
                let answer = try #require(try await connection.receive())
                #expect(answer.status == 400 && !answer.body.isEmpty)
            }
        }
    }

    @Test("a connection on which some of the next request is always there takes no more memory for it")
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
            // 35 MB were sent since.
            #expect(try service.residentKilobytes - before < 8000)
        }
    }
}
