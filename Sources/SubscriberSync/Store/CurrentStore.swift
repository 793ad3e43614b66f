package import Logging
import NIOConcurrencyHelpers
package import OfferConfiguration
import OfferCore
import OfferTelemetry
package import SubscriberStore

/// The subscriber store while the service runs: its settings, the open store, and the last failure.
///
/// The service starts and signs offers without a rule even if the store cannot be opened. ``StoreWatch`` opens it
/// later.
package final class CurrentStore: Sendable {
    private struct State {
        var store: (any SubscriberStore)?
        /// The last failure, until a change succeeds.
        var fault: StoreError?
        /// The last row that could not be read, until the process ends.
        var unreadable: StoreError?
    }

    /// The database settings; nil if no subscribers are stored.
    package let settings: StoreSettings?
    private let state: NIOLockedValueBox<State>
    private let warning: ThrottledWarning

    /// - Parameter store: the open store; nil if it is opened later.
    package init(_ settings: StoreSettings?, store: (any SubscriberStore)? = nil, fault: StoreError? = nil, log: Logger)
    {
        self.settings = settings
        state = NIOLockedValueBox(State(store: store, fault: fault))
        warning = ThrottledWarning("the database of subscribers failed", log: log)
    }

    /// True if a database is configured.
    package var isConfigured: Bool { settings != nil }

    /// The open store; nil if it is not open.
    package var store: (any SubscriberStore)? { state.withLockedValue { $0.store } }

    /// The reason the store does not work; nil if it works, or if none is configured.
    package var fault: StoreError? { state.withLockedValue { $0.fault } }

    /// The last row that could not be read; nil if every row could be read. It affects only one customer: all others
    /// are served.
    package var unreadable: StoreError? { state.withLockedValue { $0.unreadable } }

    /// True if the store is open and its last change succeeded.
    package var isHealthy: Bool { state.withLockedValue { $0.store != nil && $0.fault == nil } }

    /// Starts to use an opened store.
    func open(_ store: any SubscriberStore) {
        state.withLockedValue { $0 = State(store: store) }
    }

    package func note(_ fault: StoreError) {
        state.withLockedValue { state in
            if fault.kind == .unreadable { state.unreadable = fault } else { state.fault = fault }
        }
        warning.warn(["reason": "\(fault.diagnostic.error)", "hint": "\(fault.diagnostic.hint)"])
    }

    /// Makes a change, which is durable when this function returns.
    package func write<Result: Sendable>(
        _ change: (any SubscriberStore) async throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        let result = try await read(change)
        // Damage is permanent, even if a change elsewhere in the database succeeds.
        state.withLockedValue { if $0.fault?.isLasting == false { $0.fault = nil } }
        return result
    }

    package func read<Result: Sendable>(
        _ body: (any SubscriberStore) async throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        guard let store else { throw fault ?? .notConfigured }
        do { return try await body(store) } catch {
            note(error)
            throw error
        }
    }
}

extension StoreError {
    package static let notConfigured = StoreError(.unreachable, "no database is configured")
}
