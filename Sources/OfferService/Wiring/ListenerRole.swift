/// The endpoints that a listener serves.
package struct ListenerRole: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// All endpoints for clients of the API.
    package static let offers = ListenerRole(rawValue: 1)
    package static let metrics = ListenerRole(rawValue: 2)
    /// The endpoints that the App Store calls.
    package static let notifications = ListenerRole(rawValue: 4)

    /// The pages of campaign links, for everybody. It needs an address of its own.
    package static let links = ListenerRole(rawValue: 8)

    package static let all: ListenerRole = [.offers, .metrics, .notifications]
    /// Only metrics and health, for anyone who can reach the address.
    package static let metricsOnly: ListenerRole = .metrics
}
