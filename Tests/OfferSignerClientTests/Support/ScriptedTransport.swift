import Foundation
import OfferSignerClient

/// Answers each request with the next step of a script, and keeps the requests.
///
/// Purchases are reported in the background, so their events can come at any time: a transport for purchases answers them itself.
final class ScriptedTransport: OfferTransport {
    typealias Step = @Sendable (TransportRequest) throws -> TransportAnswer

    private let lock = NSLock()
    // Every access holds the lock.
    private nonisolated(unsafe) var steps: [Step]
    private nonisolated(unsafe) var received: [TransportRequest] = []

    private let answersEvents: Bool

    init(_ steps: Step..., answersEvents: Bool = false) {
        unsafe self.steps = steps
        self.answersEvents = answersEvents
    }

    func send(_ request: TransportRequest) async throws -> TransportAnswer {
        try next(request)(request)
    }

    private func next(_ request: TransportRequest) throws -> Step {
        lock.lock()
        defer { lock.unlock() }
        unsafe received.append(request)
        if answersEvents, request.path == "v1/offers/events" { return Fixtures.noContent }
        guard unsafe !steps.isEmpty else { throw TransportFailure(.noAnswer, "the script is over") }
        return unsafe steps.removeFirst()
    }

    func then(_ steps: Step...) {
        lock.lock()
        defer { lock.unlock() }
        unsafe self.steps += steps
    }

    var requests: [TransportRequest] {
        lock.lock()
        defer { lock.unlock() }
        return unsafe received
    }

    /// The requests to one path.
    func requests(to path: String) -> [TransportRequest] { requests.filter { $0.path == path } }

    func keys(to path: String) -> [String] { requests(to: path).compactMap { $0.headers["Idempotency-Key"] } }
}

extension TransportRequest {
    var json: [String: Any] { (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:] }
}
