package import OfferCore
package import OfferHTTP

/// The settings of links of campaigns.
package struct LinkSettings: Sendable {
    /// The address that serves the pages of links; nil if this service serves none.
    package let address: ListeningAddress?
    /// The scheme and host of links; nil if it is unknown. Only commands that make links need it.
    package let origin: ConsoleOrigin?
    /// The key of the codes in personal links; nil if there are none.
    package let key: Secret?

    package init(address: ListeningAddress? = nil, origin: ConsoleOrigin? = nil, key: Secret? = nil) {
        self.address = address
        self.origin = origin
        self.key = key
    }
}
