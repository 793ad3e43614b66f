import OfferConfiguration

/// The ports that the service listens on.
package struct ListeningPorts: Hashable, Sendable {
    package let main: Int
    /// nil if metrics have no address of their own.
    package let metrics: Int?
    /// nil if notifications have no address of their own.
    package let notifications: Int?

    /// - Parameter ports: in the order of the listeners.
    init(_ ports: [Int], of configuration: Configuration) {
        var others = ports.dropFirst()
        main = ports[0]
        metrics = configuration.metricsAddress == nil ? nil : others.popFirst()
        notifications = configuration.notificationsAddress == nil ? nil : others.popFirst()
    }
}
