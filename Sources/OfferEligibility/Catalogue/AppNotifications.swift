package import OfferCore

/// The settings for an app's notifications.
package struct AppNotifications: Hashable, Sendable {
    /// The URLs to which each notification is forwarded, as received.
    package let receivers: [String]
    /// The app's shared secret, which authenticates notifications of version 1; nil to refuse them.
    package let sharedSecret: Secret?

    package init(receivers: [String] = [], sharedSecret: Secret? = nil) {
        self.receivers = receivers
        self.sharedSecret = sharedSecret
    }
}
