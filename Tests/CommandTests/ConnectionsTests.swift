import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TestSupport
import Testing

/// A service with many connections that are idle or not yet accepted.
@Suite("Connections", .timeLimit(.minutes(5)))
struct ConnectionsTests {
    private static let offer = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"u"}"#

    /// The bytes that a client sends before it goes silent.
    private static let beginnings = [
        "", "POST /off", "POST /offer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
        "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ]

    @Test(
        "requests are answered despite 2,000 idle connections, with or without enough descriptors",
        arguments: [nil, 200])
    func idle(descriptors: Int?) async throws {
        let service = try RunningService(descriptors: descriptors)
        let before = try service.descriptorCount
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var idle: [any Channel] = []
        for number in 0..<2000 {
            let channel = try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: service.port).get()
            // Some connections are already closed when they write.
            channel.writeAndFlush(ByteBuffer(string: Self.beginnings[number % Self.beginnings.count]), promise: nil)
            idle.append(channel)
            guard number % 100 == 0 else { continue }
            #expect(try await service.post("/offer", Self.offer).status == 200)
        }
        if let descriptors { #expect(try service.descriptorCount < descriptors) }
        // Idle connections must not use up the descriptors that the service itself needs, for example to list the key
        // folder.
        #expect(try await service.get("/health/ready").status == 200)
        for channel in idle { channel.close(promise: nil) }
        try await group.shutdownGracefully()
        try await waitUntil { try service.descriptorCount <= before }
        #expect(try !service.log.contains("cannot be listed"))
        #expect(service.stop() == 0)
    }

    @Test("connections open at shutdown get a response, even if not yet accepted")
    func stop() async throws {
        let service = try RunningService()
        // While the service is suspended, the kernel completes connections, but the service does not accept them.
        kill(service.processIdentifier, SIGSTOP)
        let sent = NIOLockedValueBox(0)
        let answered = try await withThrowingTaskGroup(of: Bool.self) { tasks in
            for _ in 0..<400 {
                tasks.addTask {
                    try await Connection.open(port: service.port) { connection in
                        try await connection.send(
                            "GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                        sent.withLockedValue { $0 += 1 }
                        return try await connection.receive()?.status == 200
                    }
                }
            }
            try await waitUntil { sent.withLockedValue { $0 } == 400 }
            service.terminate()
            kill(service.processIdentifier, SIGCONT)
            return try await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(answered == 400)
        #expect(service.stop() == 0)
    }
}
