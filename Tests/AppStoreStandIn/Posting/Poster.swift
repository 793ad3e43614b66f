import AppStoreTestSupport
import AsyncHTTPClient
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import TestSupport

/// Posts notifications to the team's server, as the App Store does, and repeats them on its schedule.
package final class Poster: Sendable {
    /// Where notifications go.
    package enum Receiver: Sendable {
        /// The URL of the intake.
        case url(String)
        /// A function that gets the body, and returns the HTTP status; nil if there is no answer.
        case function(@Sendable (String) async -> Int?)
    }

    package struct Settings: Sendable {
        /// nil to post nothing.
        package var receiver: Receiver?
        /// The share of notifications that never leave.
        package var lost = 0.0
        /// The share of those delivered that are posted twice.
        package var repeated = 0.0
        /// The longest delay before a first attempt, in milliseconds: it shuffles them.
        package var shuffled: Int64 = 0

        package init() {}
    }

    private struct Due {
        let notification: StandInWorld.Notification
        let attempt: Int
        let time: Int64
    }

    private struct State {
        var settings: Settings
        var due: [Due] = []
        var random = SplitMix64(seed: 7)
        var isPaused = false
    }

    private let world: StandInWorld
    private let now: @Sendable () -> Int64
    private let client: HTTPClient
    private let state: NIOLockedValueBox<State>

    /// Apple's schedule in production, in hours after the attempt before. The sandbox posts once.
    private static let schedule = [1.0, 12, 24, 48, 72]
    private static let concurrency = 32

    init(_ world: StandInWorld, _ settings: Settings, now: @escaping @Sendable () -> Int64) {
        self.world = world
        self.now = now
        state = NIOLockedValueBox(State(settings: settings))
        client = HTTPClient(eventLoopGroupProvider: .singleton)
    }

    /// Changes where and how notifications are posted.
    package func set(_ settings: Settings) { state.withLockedValue { $0.settings = settings } }

    /// Plans the first attempt of each notification.
    /// - Parameter mayBeLost: false for notifications that always leave, whatever share of them gets lost.
    func add(_ notifications: [StandInWorld.Notification], mayBeLost: Bool = true) {
        for notification in notifications {
            let isLost = state.withLockedValue { state in
                let share = Double.random(in: 0..<1, using: &state.random)
                let delay =
                    state.settings.shuffled == 0
                    ? 0 : Int64.random(in: 0..<state.settings.shuffled, using: &state.random)
                guard share >= state.settings.lost || !mayBeLost, state.settings.receiver != nil else { return true }
                state.due.append(Due(notification: notification, attempt: 0, time: now() + delay))
                return false
            }
            if isLost { world.note(.init(date: now(), result: "NO_RESPONSE"), of: notification.uuid) }
        }
    }

    /// Makes the attempts that are due.
    package func post() async {
        let time = now()
        let (due, settings) = state.withLockedValue { state in
            let due = state.due.filter { $0.time <= time }
            state.due.removeAll { $0.time <= time }
            return (due, state.settings)
        }
        guard let receiver = settings.receiver else { return }
        await withTaskGroup(of: Void.self) { group in
            for (index, attempt) in due.enumerated() {
                if index >= Self.concurrency { await group.next() }
                group.addTask { await self.post(attempt, to: receiver, repeated: settings.repeated) }
            }
        }
    }

    /// The number of attempts to come.
    package var waiting: Int { state.withLockedValue { $0.due.count } }

    func stop() async { try? await client.shutdown() }

    private func post(_ due: Due, to receiver: Receiver, repeated: Double) async {
        let result = await send(due.notification, to: receiver)
        world.note(.init(date: now(), result: result), of: due.notification.uuid)
        if result == "SUCCESS" {
            let isRepeated = state.withLockedValue { Double.random(in: 0..<1, using: &$0.random) < repeated }
            if isRepeated { _ = await send(due.notification, to: receiver) }
        } else if world.settings.environment == "Production", due.attempt < Self.schedule.count {
            let next = now() + world.settings.clock.hours(Self.schedule[due.attempt])
            state.withLockedValue {
                $0.due.append(Due(notification: due.notification, attempt: due.attempt + 1, time: next))
            }
        }
    }

    /// - Returns: Apple's name of the result.
    private func send(_ notification: StandInWorld.Notification, to receiver: Receiver) async -> String {
        guard let payload = try? world.signedPayload(of: notification) else { return "OTHER" }
        let body = #"{"signedPayload":"\#(payload)"}"#
        let status =
            switch receiver {
            case .url(let url): await post(body, to: url)
            case .function(let deliver): await deliver(body)
            }
        guard let status else { return "NO_RESPONSE" }
        return (200...206).contains(status) ? "SUCCESS" : "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    }

    /// - Returns: the HTTP status; nil if there is no answer.
    private func post(_ body: String, to url: String) async -> Int? {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: body))
        guard let response = try? await client.execute(request, timeout: .seconds(10)) else { return nil }
        _ = try? await response.body.collect(upTo: 65_536)
        return Int(response.status.code)
    }
}
