package import OfferCore

/// A fact that the team's backend supplied about a customer, such as `episodesWatched`.
package struct TeamFact: Hashable, Sendable {
    /// The identifier that the caller used. A customer can have the same fact under each of several identifiers.
    package let identifier: CustomerIdentifier
    /// 1 to 64 bytes.
    package let name: FieldText
    package let value: TeamFactValue
    /// The time at which the caller supplied the fact.
    package let setAt: Timestamp

    package init(identifier: CustomerIdentifier, name: FieldText, value: TeamFactValue, setAt: Timestamp) {
        self.identifier = identifier
        self.name = name
        self.value = value
        self.setAt = setAt
    }

    /// The maximum size of a name, in bytes.
    package static let maximumNameSize = 64
}

/// The value of a fact: a JSON scalar except null, which removes the fact.
package enum TeamFactValue: Hashable, Sendable {
    /// Valid UTF-8. A date is also text.
    case text([UInt8])
    /// A JSON number as written.
    case number([UInt8])
    case bool(Bool)
}
