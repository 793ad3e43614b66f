import OfferConfiguration

/// The ports that the service listens on.
package struct ListeningPorts: Hashable, Sendable {
    package let main: Int
    /// nil if metrics have no separate address.
    package let metrics: Int?
    /// nil if notifications have no separate address.
    package let notifications: Int?
    /// nil if no pages of links are served.
    package let links: Int?
    /// nil if there is no console.
    package let console: Int?

    /// - Parameter ports: the ports, in the order of the listeners.
    init(_ ports: [Int], of configuration: Configuration) {
        var others = ports.dropFirst()
        main = ports[0]
        metrics = configuration.metricsAddress == nil ? nil : others.popFirst()
        notifications = configuration.notificationsAddress == nil ? nil : others.popFirst()
        links = configuration.links.address == nil ? nil : others.popFirst()
        console = configuration.console == nil ? nil : others.popFirst()
    }
}
