import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Sends notifications over a fixed number of HTTP/1.1 connections that are kept alive.
struct Sender {
    private let source: NotificationSource
    private let url: String
    private let connections: Int
    /// The time between two notifications; nil to send as fast as the service answers.
    private let interval: Duration?
    private let acknowledged: LineFile?
    private let client: HTTPClient

    init(
        _ source: NotificationSource, url: String, connections: Int, rate: Double?, acknowledged: LineFile?
    ) throws {
        self.source = source
        self.url = url
        self.connections = connections
        interval = rate.map { .seconds(1) / $0 }
        self.acknowledged = acknowledged
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func run() async -> Results {
        let clock = ContinuousClock()
        let start = clock.now
        var results = await withTaskGroup(of: Results.self) { group in
            for _ in 0..<connections { group.addTask { await send(from: start) } }
            return await group.reduce(into: Results()) { $0.add($1) }
        }
        results.elapsed = clock.now - start
        try? await client.shutdown()
        return results
    }

    /// Sends one notification after the other until there are no more, or the connection is lost.
    private func send(from start: ContinuousClock.Instant) async -> Results {
        var results = Results()
        do {
            while let notification = try source.next() {
                var due = ContinuousClock.now
                if let interval {
                    due = start + interval * notification.number
                    try await Task.sleep(until: due, clock: .continuous)
                }
                results.sent += 1
                let status = try await status(of: notification)
                results.note(status, after: ContinuousClock.now - due)
                if status == 200 { try acknowledged?.add(notification.uuid) }
            }
        } catch {
            results.noteLoss("\(error)")
        }
        return results
    }

    private func status(of notification: NotificationSource.Notification) async throws -> Int {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: notification.body))
        let response = try await client.execute(request, timeout: .seconds(60))
        _ = try await response.body.collect(upTo: 65_536)
        return Int(response.status.code)
    }
}
