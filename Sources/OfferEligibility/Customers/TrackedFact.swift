package import OfferCore

/// A value that a fact of the team had, with its time. It is kept for reports only: no rule reads it.
package struct TrackedFact: Hashable, Sendable {
    /// The identifier that the caller used.
    package let identifier: CustomerIdentifier
    package let name: FieldText
    /// nil if the fact was removed.
    package let value: TeamFactValue?
    /// The time at which the caller supplied or removed the fact.
    package let at: Timestamp

    package init(identifier: CustomerIdentifier, name: FieldText, value: TeamFactValue?, at: Timestamp) {
        self.identifier = identifier
        self.name = name
        self.value = value
        self.at = at
    }

    package init(_ fact: TeamFact) {
        self.init(identifier: fact.identifier, name: fact.name, value: fact.value, at: fact.setAt)
    }

    /// The number of days (UTC) whose last values are kept for each identifier and name: the first, and the newest.
    package static let maximumCount = 100
    /// The maximum number of facts that an app can track.
    package static let maximumNames = 8
}
