/// The settings for an app's events, which tell the team's own receivers what happened to customers.
package struct AppEvents: Hashable, Sendable {
    /// The URLs that receive the events; none if no events are sent.
    package let receivers: [String]
    package let kinds: Set<CustomerEvent.Kind>

    package init(receivers: [String] = [], kinds: Set<CustomerEvent.Kind> = Set(CustomerEvent.Kind.allCases)) {
        self.receivers = receivers
        self.kinds = kinds
    }
}
