import NIOCore
import NIOEmbedded
import OfferHTTP
import OfferService
import OfferTelemetry
import TestSupport
import Testing

@Suite("Connection set")
struct ConnectionSetTests {
    private let loop = EmbeddedEventLoop()
    private let metrics = ServiceMetrics()
    private let set: ConnectionSet

    init() throws {
        let service = try TestService()
        let batch = ResponseBatch(eventLoop: loop, responder: service.router, asyncLane: AsyncLane(), budget: .roomy)
        set = ConnectionSet(limit: 10, batch: batch, budget: .roomy, metrics: metrics.connections)
    }

    /// Opens a connection one second after the previous one.
    private func add(answered: Bool, as level: ClientStanding.Level = .stranger) throws -> EmbeddedChannel {
        loop.advanceTime(by: .seconds(1))
        let channel = EmbeddedChannel(loop: loop)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        let connection = OpenConnection(channel, budget: .roomy)
        set.add(connection)
        connection.standing.note(level)
        if answered { connection.noteRequest(at: loop.now) }
        return channel
    }

    @Test("unused connections cannot displace connections in use from more than half of the slots")
    func unused() throws {
        let used = try (0..<5).map { _ in try add(answered: true) }
        let unused = try (0..<100).map { _ in try add(answered: false) }
        #expect(used.map(\.isActive) == Array(repeating: true, count: 5))
        #expect(unused.map(\.isActive) == Array(repeating: false, count: 95) + Array(repeating: true, count: 5))
    }

    @Test("a connection in use by a stranger is closed before one of a user, and that before one of a caller")
    func levels() throws {
        let callers = try (0..<4).map { _ in try add(answered: true, as: .caller) }
        let users = try (0..<4).map { _ in try add(answered: true, as: .user) }
        let strangers = try (0..<2).map { _ in try add(answered: true) }
        _ = try (0..<3).map { _ in try add(answered: true, as: .caller) }
        #expect(callers.allSatisfy { $0.isActive })
        #expect(strangers.allSatisfy { !$0.isActive })
        #expect(users.map(\.isActive) == [false, true, true, true])
    }

    @Test("the connection in use with the oldest last request is closed first")
    func used() throws {
        let used = try (0..<12).map { _ in try add(answered: true) }
        #expect(used.map(\.isActive) == [false, false] + Array(repeating: true, count: 10))
        let new = try add(answered: false)
        #expect(new.isActive)
        #expect(!used[2].isActive)
        loop.run()
        var text = ExpositionText()
        for metric in Metric.all { metrics.write(metric, to: &text) }
        let scrape = Scrape(text.bytes)
        #expect(scrape["offer_signer_connections"] == 10)
        #expect(scrape["offer_signer_connections_evicted_total"] == 3)
    }
}
