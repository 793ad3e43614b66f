import AppStoreTestSupport
import NIOConcurrencyHelpers

/// The notifications of a run, in order.
final class NotificationSource: Sendable {
    struct Notification: Sendable {
        /// Counted from 0.
        let number: Int
        let uuid: String
        let body: [UInt8]
    }

    private struct State {
        var plan: NotificationPlan
        var next = 0
        var prepared: [Notification] = []
    }

    private let signer: NotificationSigner
    private let count: Int
    private let state: NIOLockedValueBox<State>

    init(signer: NotificationSigner, plan: NotificationPlan, count: Int) {
        self.signer = signer
        self.count = count
        state = NIOLockedValueBox(State(plan: plan))
    }

    /// Signs all notifications.
    func prepare() throws {
        var all: [Notification] = []
        while let notification = try next() { all.append(notification) }
        state.withLockedValue {
            $0.next = 0; $0.prepared = all
        }
    }

    /// The next notification; nil if there is none. Signs it unless it is prepared.
    func next() throws -> Notification? {
        let (number, prepared, planned) = state.withLockedValue { state in
            guard state.next < count else { return (count, nil as Notification?, nil as PlannedNotification?) }
            defer { state.next += 1 }
            guard state.prepared.isEmpty else { return (state.next, state.prepared[state.next], nil) }
            return (state.next, nil, state.plan.next())
        }
        if let prepared { return prepared }
        return try planned.map { Notification(number: number, uuid: $0.uuid, body: try signer.body(of: $0)) }
    }
}
