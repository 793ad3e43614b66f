import NIOCore
import NIOEmbedded
import OfferCore
import OfferHTTP
import OfferService
import OfferTelemetry
import TestSupport
import Testing

/// The memory that clients can make the service take.
@Suite("Memory budget")
struct MemoryTests {
    /// A kernel whose buffer is full: nothing that is flushed leaves until the test opens it.
    private final class Kernel: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var isOpen = false

        func flush(context: ChannelHandlerContext) { if isOpen { context.flush() } }
    }

    /// An event loop with its connections.
    private struct Server {
        let loop = EmbeddedEventLoop()
        let service: TestService
        let batch: ResponseBatch
        let budget: MemoryBudget
        private let setup: ConnectionSetup

        /// - Parameter budget: in bytes.
        init(budget: Int = 1 << 30) throws {
            service = try TestService()
            self.budget = MemoryBudget(limit: budget)
            batch = ResponseBatch(
                eventLoop: loop, responder: service.router, asyncLane: AsyncLane(), budget: self.budget)
            setup = ConnectionSetup(
                responder: service.router, certificate: CurrentCertificate(nil), readiness: Readiness(),
                asyncLane: AsyncLane(), metrics: service.metrics.connections, budget: self.budget, sources: .unlimited,
                group: loop, maximumConnections: 100)
        }

        func connect(
            through kernel: Kernel? = nil, as level: ClientStanding.Level = .stranger
        ) throws -> EmbeddedChannel {
            let channel = EmbeddedChannel(handlers: kernel.map { [$0] } ?? [], loop: loop)
            channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 1), promise: nil)
            let connection = setup.add(channel)
            connection.standing.note(level)
            try setup.addHTTP1(connection)
            return channel
        }

        func send(_ text: String, on channel: EmbeddedChannel) {
            channel.pipeline.fireChannelRead(ByteBuffer(string: text))
            loop.run()
        }

        /// Returns the statuses of the responses received since the last call.
        func statuses(_ channel: EmbeddedChannel) throws -> [Int] {
            loop.run()
            var text = ""
            while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
            return text.matches(of: /HTTP\/1.1 (\d+)/).compactMap { Int($0.output.1) }
        }

        func unsentBytes(_ channel: EmbeddedChannel) throws -> Int {
            try channel.syncOptions?.getOption(.bufferedWritableBytes) ?? 0
        }
    }

    private static let contract = "GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let offer =
        "GET /offer?appBundleID=a&productIdentifier=p&offerID=o&applicationUsername=u HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let unfinished =
        "POST /offer HTTP/1.1\r\nHost: a\r\nContent-Length: 32000\r\n\r\n" + String(repeating: " ", count: 20_000)

    @Test("a client that reads nothing gets no further response once 64 KiB are unsent, and the rest when it reads")
    func unread() throws {
        let server = try Server()
        let kernel = Kernel()
        let channel = try server.connect(through: kernel)
        let size = server.service.get("/openapi.json").body.count
        server.send(String(repeating: Self.contract, count: 10), on: channel)
        #expect(try server.unsentBytes(channel) < 64 * 1024 + size + 1024)
        #expect(server.budget.usedBytes < 128 * 1024 + size)
        kernel.isOpen = true
        var received: [Int] = []
        for _ in 0..<10 {
            channel.flush()
            channel.pipeline.fireChannelWritabilityChanged()
            server.loop.advanceTime(by: .milliseconds(1))
            received += try server.statuses(channel)
        }
        #expect(received == Array(repeating: 200, count: 10))
    }

    @Test("a client that reads nothing is cut off within 40 s, even if it keeps sending requests")
    func neverRead() throws {
        let server = try Server()
        let channel = try server.connect(through: Kernel())
        for _ in 0..<40 where channel.isActive {
            server.send(String(repeating: Self.contract, count: 3), on: channel)
            server.loop.advanceTime(by: .seconds(1))
        }
        #expect(!channel.isActive)
    }

    @Test("a client that has not authenticated has at most four requests in progress on a connection")
    func pipelining() throws {
        let server = try Server()
        let kernel = Kernel()
        let channel = try server.connect(through: kernel)
        // One batch of requests arrives before any of them is answered.
        channel.pipeline.fireChannelRead(
            ByteBuffer(string: String(repeating: "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n", count: 64)))
        #expect(server.budget.usedBytes <= 16 * 1024)
        kernel.isOpen = true
        for _ in 0..<20 { server.loop.advanceTime(by: .milliseconds(1)) }
        #expect(try server.statuses(channel) == Array(repeating: 200, count: 64))
    }

    @Test("when memory is short, connections that never authenticated are closed, the large ones first")
    func relief() throws {
        // One connection that does not read the contract fits into three quarters of the budget, and two do not.
        let budget = try 2 * TestService().get("/openapi.json").body.count
        let server = try Server(budget: budget)
        let caller = try server.connect()
        server.send(Self.offer, on: caller)
        #expect(try server.statuses(caller) == [200])
        server.send(Self.unfinished, on: caller)
        let small = try server.connect()
        server.loop.advanceTime(by: .seconds(2))
        let large = try (0..<3).map { _ in try server.connect(through: Kernel()) }
        for channel in large { server.send(String(repeating: Self.contract, count: 4), on: channel) }
        #expect(caller.isActive && small.isActive)
        #expect(large.contains { $0.isActive } && !large.allSatisfy { $0.isActive })
        #expect(server.budget.usedBytes <= budget / 4 * 3)
        #expect(server.service.scrape()["offer_signer_connections_closed_for_memory_total"] ?? 0 >= 1)
    }

    @Test("a head counts until its body has arrived, and a request until it is answered")
    func heads() throws {
        let server = try Server()
        let channel = try server.connect()
        let before = server.budget.usedBytes
        let head =
            "POST /offer HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(String(repeating: "1", count: 30_000))\r\nContent-Length: 9\r\n\r\n"
        server.send(head, on: channel)
        #expect(server.budget.usedBytes - before >= 30_000)
        channel.pipeline.fireChannelRead(ByteBuffer(string: "123456789"))
        #expect(server.budget.usedBytes - before >= 30_000)
        server.loop.run()
        #expect(server.budget.usedBytes - before < 10_000)
    }

    @Test("what a slow client has sent takes no more memory than its size, however large the buffers were")
    func slowClient() throws {
        let server = try Server()
        let channel = try server.connect()
        let before = server.budget.usedBytes
        var buffer = ByteBufferAllocator().buffer(capacity: 64 * 1024)
        buffer.writeString("GET / HTTP/1.1\r\nHost: ")
        channel.pipeline.fireChannelRead(buffer)
        #expect(server.budget.usedBytes - before <= MemoryBudget.step)
    }

    @Test("when memory is short, connections that have long done nothing are closed before new ones")
    func newcomers() throws {
        let server = try Server(budget: 100 * 1024)
        let old = try (0..<9).map { _ in try server.connect() }
        server.loop.advanceTime(by: .seconds(2))
        for _ in 0..<5 {
            let new = try server.connect()
            server.loop.run()
            #expect(new.isActive)
            server.send(Self.offer, on: new)
            #expect(try server.statuses(new) == [200])
        }
        #expect(old.filter(\.isActive).count == 4)
    }

    @Test("when memory is short, users' connections are closed after those of strangers, and callers' never")
    func levels() throws {
        let server = try Server(budget: 320 * 1024)
        let callers = try (0..<3).map { _ in try server.connect(as: .caller) }
        let users = try (0..<3).map { _ in try server.connect(as: .user) }
        let strangers = try (0..<3).map { _ in try server.connect() }
        for channel in callers + users + strangers {
            server.loop.advanceTime(by: .seconds(2))
            server.send(Self.unfinished, on: channel)
        }
        #expect(callers.allSatisfy { $0.isActive })
        #expect(strangers.allSatisfy { !$0.isActive })
        #expect(users.filter(\.isActive).count == 2)
    }

    @Test("when no memory is left, requests get 503 and health is still reported")
    func exhausted() throws {
        let server = try Server(budget: 50 * 1024)
        let callers = try (0..<4).map { _ in try server.connect() }
        for caller in callers { server.send(Self.offer, on: caller) }
        for caller in callers { #expect(try server.statuses(caller) == [200]) }
        for caller in callers.dropFirst() { server.send(Self.unfinished, on: caller) }
        #expect(server.budget.usedBytes > 50 * 1024)
        server.send(Self.offer + "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n", on: callers[0])
        #expect(try server.statuses(callers[0]) == [503, 200])
        for caller in callers { caller.close(promise: nil) }
        server.loop.run()
        #expect(server.budget.usedBytes == 0)
    }

    @Test("requests of clients that have authenticated are answered before those of others")
    func order() throws {
        let server = try Server()
        let caller = try server.connect()
        server.send(Self.offer, on: caller)
        _ = try server.statuses(caller)
        let strangers = try (0..<40).map { _ in try server.connect() }
        for stranger in strangers {
            stranger.pipeline.fireChannelRead(
                ByteBuffer(string: String(repeating: "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n", count: 4)))
        }
        caller.pipeline.fireChannelRead(ByteBuffer(string: Self.offer))
        // One turn answers the caller and 64 requests of strangers.
        server.loop.run()
        #expect(try server.statuses(caller) == [200])
        let first = try strangers.reduce(0) { try $0 + server.statuses($1).count }
        #expect(first == 64)
        server.loop.advanceTime(by: .milliseconds(1))
        let rest = try strangers.reduce(0) { try $0 + server.statuses($1).count }
        #expect(rest == 96)
    }

    @Test("an address may hold a limited number of connections, unless it is this machine or a proxy")
    func connectionsPerAddress() throws {
        var limits = Limits()
        limits.connections = 2
        let network = try #require(TrustedProxies.Network("10.0.0.0/8"))
        let sources = ConnectionSources { [limits] in
            ConnectionSources.Rules(limits: limits, proxies: TrustedProxies([network]))
        }
        let loop = EmbeddedEventLoop()
        func connect(_ address: String) throws -> EmbeddedChannel? {
            let channel = EmbeddedChannel(loop: loop)
            try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
            return sources.admit(channel, startsTLS: false) ? channel : nil
        }
        let first = try #require(try connect("192.0.2.1"))
        #expect(try connect("192.0.2.1") != nil)
        #expect(try connect("192.0.2.1") == nil)
        #expect(try connect("192.0.2.2") != nil)
        // A subscriber has many IPv6 addresses.
        let isOpen = try ["2001:db8::1", "2001:db8::2", "2001:db8::3"].map { try connect($0) != nil }
        #expect(isOpen == [true, true, false])
        for address in ["127.0.0.1", "::1", "10.1.2.3"] {
            #expect(try (0..<5).allSatisfy { _ in try connect(address) != nil })
        }
        first.close(promise: nil)
        loop.run()
        #expect(try connect("192.0.2.1") != nil)
    }

    @Test("an address may begin a limited number of TLS handshakes per second")
    func handshakes() throws {
        var limits = Limits()
        limits.connections = nil
        limits.handshakes = RateLimit(perSecond: 1, burst: 2)
        let sources = ConnectionSources { [limits] in
            ConnectionSources.Rules(limits: limits, proxies: TrustedProxies())
        }
        let loop = EmbeddedEventLoop()
        func connect(startsTLS: Bool = true) throws -> Bool {
            let channel = EmbeddedChannel(loop: loop)
            try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
            return sources.admit(channel, startsTLS: startsTLS)
        }
        #expect(try [connect(), connect(), connect(), connect(startsTLS: false)] == [true, true, false, true])
        loop.advanceTime(by: .seconds(1))
        #expect(try connect())
    }
}
