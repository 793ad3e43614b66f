import OfferCore

/// An app's configuration of grants.
package struct GrantPolicy: Hashable, Sendable {
    /// The reasons that a person can choose from, in file order.
    package let reasons: [String]
    /// The number of grants that a person may make in a day in UTC. Further ones need a second person.
    package let dailyBudget: Int
    /// The time for which a grant is valid, unless the person sets another date.
    package let lifetime: Duration
    /// The messages for granted offers that no case of `retention` shows; nil if such offers are not shown there.
    package let messages: RetentionMessages?

    package static let defaultReasons = ["goodwill", "technical_problem", "retention", "other"]
    package static let defaultDailyBudget = 20
    package static let defaultLifetime = Duration.hours(14 * 24)
    package static let maximumLifetime = Duration.hours(366 * 24)

    package init(
        reasons: [String] = defaultReasons, dailyBudget: Int = defaultDailyBudget,
        lifetime: Duration = defaultLifetime, messages: RetentionMessages? = nil
    ) {
        self.reasons = reasons
        self.dailyBudget = dailyBudget
        self.lifetime = lifetime
        self.messages = messages
    }
}
