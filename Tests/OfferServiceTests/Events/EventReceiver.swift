import Foundation
import NIOConcurrencyHelpers
import TestSupport

@testable import AppStoreStandIn

/// A receiver of events over HTTPS that refuses some, hangs on some, and restarts.
final class EventReceiver: Sendable {
    struct Received: Hashable {
        let id: String
        let customer: String
        let event: EventReference.Event
    }

    private struct State {
        var server: TLSServer?
        var received: [Received] = []
        /// The bodies that were not understood.
        var strange: [String] = []
        /// A body of each type with each set of members.
        var samples: [String: [UInt8]] = [:]
        var requests = 0
        /// The number of requests after which a process is killed.
        var killsAt: Int?
    }

    private let certificates: TLSCertificates
    private let kill = NIOLockedValueBox<@Sendable () -> Void>({})
    private let state = NIOLockedValueBox(State())
    private let port: NIOLockedValueBox<Int>

    init(folder: String) async throws {
        certificates = try TLSCertificates(folder: folder)
        port = NIOLockedValueBox(0)
        try await start()
    }

    var url: String { "https://127.0.0.1:\(port.withLockedValue { $0 })/events" }
    var rootPath: String { certificates.rootPath }
    /// What was accepted, in the order of arrival, with repeats.
    var received: [Received] { state.withLockedValue { $0.received } }
    var samples: [[UInt8]] { state.withLockedValue { Array($0.samples.values) } }

    var strange: [String] { state.withLockedValue { $0.strange } }

    /// Calls a function in the middle of the next requests.
    func killSoon(_ kill: @escaping @Sendable () -> Void) {
        self.kill.withLockedValue { $0 = kill }
        state.withLockedValue { $0.killsAt = $0.requests + 2 }
    }

    /// Listens, on the same port as before.
    func start() async throws {
        guard state.withLockedValue({ $0.server == nil }) else { return }
        let server = try await TLSServer(certificates, port: port.withLockedValue { $0 }) { [weak self] request in
            await self?.answer(request) ?? StandInResponse(delivery: .none)
        }
        port.withLockedValue { $0 = server.port }
        state.withLockedValue { $0.server = server }
    }

    /// Refuses connections, and ends those that are open.
    func stop() async { await state.withLockedValue { $0.server.take() }?.stop() }

    private func answer(_ request: StandInRequest) async -> StandInResponse {
        let (number, isDown, kills) = state.withLockedValue { state in
            state.requests += 1
            let kills = state.killsAt.map { state.requests >= $0 } ?? false
            if kills { state.killsAt = nil }
            return (state.requests, state.server == nil, kills)
        }
        if isDown { return StandInResponse(delivery: .none) }
        if number % 6 == 0 { return StandInResponse(status: number % 30 == 0 ? 503 : 400) }
        if number % 97 == 0 { try? await Task.sleep(for: .seconds(3600)) }
        accept(request.body)
        if kills { kill.withLockedValue { $0 }() }
        // Some answers are lost.
        return StandInResponse(delivery: number % 23 == 0 ? .none : .whole)
    }

    private func accept(_ body: [UInt8]) {
        let json = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
        let customer = (json["customer"] as? [String: Any])?["originalTransactionID"] as? String
        state.withLockedValue { state in
            guard let id = json["id"] as? String, let type = json["type"] as? String, let at = json["at"] as? Int64,
                let customer
            else { return state.strange.append(String(decoding: body, as: UTF8.self)) }
            let event = EventReference.Event(
                type: type, at: at, productID: json["productID"] as? String, offerID: json["offerID"] as? String,
                reason: json["reason"] as? String, rule: json["rule"] as? String,
                placement: json["placement"] as? String)
            state.received.append(Received(id: id, customer: customer, event: event))
            state.samples[([type] + json.keys.sorted()).joined(separator: " ")] = body
        }
    }
}
