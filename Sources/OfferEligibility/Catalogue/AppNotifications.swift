package import OfferCore

/// The settings for an app's notifications.
package struct AppNotifications: Hashable, Sendable {
    /// The URLs that receive a copy of each notification, unchanged.
    package let receivers: [String]
    /// The app's shared secret, which authenticates version 1 notifications. If nil, they are refused.
    package let sharedSecret: Secret?

    package init(receivers: [String] = [], sharedSecret: Secret? = nil) {
        self.receivers = receivers
        self.sharedSecret = sharedSecret
    }
}
