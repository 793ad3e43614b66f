import NIOConcurrencyHelpers
import TestSupport

/// The customers of one app in one environment, as the App Store knows them: generated from a seed, and living on a clock.
package final class StandInWorld: Sendable {
    package struct Settings: Sendable {
        package var seed: UInt64 = 1
        package var customers = 100
        package var environment = "Production"
        package var bundleID = "com.example.app"
        package var appAppleID: Int64 = 1_234_567_890
        package var clock = WorldClock()
        /// The most that a page of a list has.
        package var pageSize = 20

        package init() {}
    }

    /// A notification that the App Store has sent, or tried to send.
    package struct Notification: Sendable {
        package let uuid: String
        /// In milliseconds.
        package let date: Int64
        /// nil for a test notification.
        let event: WorldEvent?
        package fileprivate(set) var attempts: [Attempt] = []

        package var wasReceived: Bool { attempts.contains { $0.result == "SUCCESS" } }
    }

    package struct Attempt: Hashable, Sendable {
        package let date: Int64
        /// Apple's name of the result.
        package let result: String

        package init(date: Int64, result: String) {
            self.date = date
            self.result = result
        }
    }

    private struct State {
        var customers: [WorldCustomer]
        /// The places of the customers with a name.
        var named: [String: Int] = [:]
        var notifications: [Notification] = []
        var places: [String: Int] = [:]
        var random: SplitMix64
    }

    package let settings: Settings
    let signer: WorldSigner
    private let state: NIOLockedValueBox<State>

    /// - Parameters:
    ///   - start: when the world begins, in milliseconds. Some customers have bought before.
    ///   - folder: a chain that ``NotificationSigner/make(in:)`` has written.
    package init(_ settings: Settings, start: Int64, folder: String) throws {
        self.settings = settings
        signer = WorldSigner(
            chain: try NotificationSigner.chain(in: folder), bundleID: settings.bundleID,
            appAppleID: settings.appAppleID,
            environment: settings.environment)
        let isSandbox = settings.environment != "Production"
        let customers = (0..<settings.customers).map {
            WorldCustomer(number: $0, seed: settings.seed, start: start, clock: settings.clock, isSandbox: isSandbox)
        }
        state = NIOLockedValueBox(State(customers: customers, random: SplitMix64(seed: settings.seed)))
    }

    /// Lives on until a time.
    /// - Returns: the notifications to send, in the order of their dates.
    package func advance(to now: Int64) -> [Notification] {
        state.withLockedValue { state in
            var events: [WorldEvent] = []
            for number in state.customers.indices where state.customers[number].nextEvent.map({ $0 <= now }) ?? false {
                events += state.customers[number].live(until: now)
            }
            return events.sorted { $0.date < $1.date }.map { Self.add(date: $0.date, $0, to: &state) }
        }
    }

    /// Adds a test notification.
    package func addTest(at now: Int64) -> Notification {
        state.withLockedValue { Self.add(date: now, nil, to: &$0) }
    }

    private static func add(date: Int64, _ event: WorldEvent?, to state: inout State) -> Notification {
        let notification = Notification(
            uuid: WorldCustomer.uuid(state.random.next(), state.random.next()), date: date, event: event)
        state.places[notification.uuid] = state.notifications.count
        state.notifications.append(notification)
        return notification
    }

    /// A notification in compact form.
    package func signedPayload(of notification: Notification) throws -> String {
        try signedPayload(of: notification, by: signer)
    }

    func signedPayload(of notification: Notification, by signer: WorldSigner) throws -> String {
        guard let event = notification.event else {
            return try signer.test(uuid: notification.uuid, at: notification.date)
        }
        return try signer.notification(event, uuid: notification.uuid)
    }

    package func note(_ attempt: Attempt, of uuid: String) {
        state.withLockedValue { state in
            guard let place = state.places[uuid] else { return }
            state.notifications[place].attempts.append(attempt)
        }
    }

    package func notification(_ uuid: String) -> Notification? {
        state.withLockedValue { state in state.places[uuid].map { state.notifications[$0] } }
    }

    /// The notifications sent in a time, oldest first.
    package func notifications(from start: Int64, until end: Int64) -> [Notification] {
        state.withLockedValue { $0.notifications.filter { (start..<end).contains($0.date) } }
    }

    package var notificationCount: Int { state.withLockedValue { $0.notifications.count } }

    // MARK: Customers

    /// The original transaction IDs of all subscriptions, by customer.
    package var subscriptions: [[String]] {
        state.withLockedValue { state in
            state.customers.map { customer in
                customer.subscriptions.filter { !$0.transactions.isEmpty }.map(\.originalID)
            }
        }
    }

    /// The customer that an identifier of the App Store names: a transaction ID or an app transaction ID.
    func customer(_ id: String) -> WorldCustomer? {
        guard let number = Int64(id) else { return nil }
        let isSandbox = settings.environment != "Production"
        let base: Int64 = isSandbox ? 2_000_000_000_000_000 : 400_000_000_000_000
        let firstAccount: Int64 = 704_897_469_903_278_336 + (isSandbox ? 1_000_000_000 : 0)
        let place = number >= firstAccount ? number - firstAccount : (number - base) / 1000
        return state.withLockedValue { state in
            guard state.customers.indices.contains(Int(place)), number >= base else { return nil }
            let customer = state.customers[Int(place)]
            let ids = [customer.appTransactionID] + customer.history.map(\.id)
            return ids.contains(id) ? customer : nil
        }
    }

    func knownCustomer(named name: String) -> WorldCustomer? {
        state.withLockedValue { state in state.named[name].map { state.customers[$0] } }
    }

    /// Lets a customer with a name do something. The customer is made if no one has the name yet.
    /// - Parameter account: of a new customer.
    func changeCustomer(
        named name: String, account: String?, _ step: (inout WorldCustomer) -> WorldEvent
    ) -> Notification {
        state.withLockedValue { state in
            let number = state.named[name] ?? state.customers.count
            if state.named[name] == nil {
                state.named[name] = number
                state.customers.append(
                    WorldCustomer(
                        directed: number, account: account, clock: settings.clock,
                        isSandbox: settings.environment != "Production"))
            }
            let event = step(&state.customers[number])
            return Self.add(date: event.date, event, to: &state)
        }
    }

    /// Sets the account of a customer's coming purchases and of their present transactions' renewals.
    func setAccount(_ account: String, ofCustomer number: Int) {
        state.withLockedValue { $0.customers[number].account = account }
    }
}

extension StandInWorld {
    /// What the store must know in the end: the current transaction, and whether it renews, of each subscription.
    package struct Truth: Hashable, Sendable {
        package let transactionID: String
        package let productID: String
        package let status: Int
        /// nil if nobody has said so.
        package let autoRenews: Bool?
        package let transactions: Int
        /// Of the transactions, in any order.
        package var refunded: Set<String> = []
        /// The transactions bought with a promotional offer.
        package var redeemed: Set<String> = []
        /// The account of each transaction that has one.
        package var accounts: [String: String] = [:]

        package init(transactionID: String, productID: String, status: Int, autoRenews: Bool?, transactions: Int) {
            self.transactionID = transactionID
            self.productID = productID
            self.status = status
            self.autoRenews = autoRenews
            self.transactions = transactions
        }
    }

    /// The truth about each subscription at a time, by original transaction ID.
    package func truth(at now: Int64) -> [String: Truth] {
        state.withLockedValue { state in
            var truth: [String: Truth] = [:]
            for subscription in state.customers.flatMap(\.subscriptions) where !subscription.transactions.isEmpty {
                var known = Truth(
                    transactionID: subscription.last.id, productID: subscription.last.productID,
                    status: subscription.status(at: now), autoRenews: subscription.autoRenews,
                    transactions: subscription.all.count)
                for transaction in subscription.all {
                    if transaction.revocationDate != nil { known.refunded.insert(transaction.id) }
                    if transaction.offer?.type == 2 { known.redeemed.insert(transaction.id) }
                    known.accounts[transaction.id] = transaction.appAccountToken
                }
                truth[subscription.originalID] = known
            }
            return truth
        }
    }
}
