import OfferCore

/// A test of a fact that the team has supplied.
package struct TeamFactTest: Hashable, Sendable {
    package enum Requirement: Hashable, Sendable {
        /// True if the fact must exist, false if it must not.
        case exists(Bool)
        /// One of these scalars.
        case isOneOf(Set<Scalar>)
        case number(Bounds<Double>)
        case date(DateRange)
    }

    /// A value as the rule language writes it.
    package enum Scalar: Hashable, Sendable {
        case text(String)
        case number(Double)
        case bool(Bool)
    }

    package let name: String
    package let requirement: Requirement

    package init(name: String, _ requirement: Requirement) {
        self.name = name
        self.requirement = requirement
    }

    /// - Parameter value: nil if the team has not supplied the fact.
    /// - Returns: unknown also for a value of another type, such as a text where a number is required.
    func truth(of value: TeamFactValue?) -> Truth {
        if case .exists(let exists) = requirement { return Truth((value != nil) == exists) }
        guard let value else { return .unknown }
        switch requirement {
        case .exists: return .unknown
        case .isOneOf(let scalars): return Scalar(value).map { Truth(scalars.contains($0)) } ?? .unknown
        case .number(let bounds):
            guard case .number(let number)? = Scalar(value) else { return .unknown }
            return Truth(bounds.contains(number))
        case .date(let range):
            guard case .text(let text)? = Scalar(value), let time = Timestamp(dateOrTime: text) else { return .unknown }
            return Truth(range.contains(time))
        }
    }
}

extension TeamFactTest.Scalar {
    /// - Returns: nil for a number out of range.
    package init?(_ value: TeamFactValue) {
        switch value {
        case .text(let bytes): self = .text(String(decoding: bytes, as: UTF8.self))
        case .bool(let bool): self = .bool(bool)
        case .number(let digits):
            guard let number = Double(String(decoding: digits, as: UTF8.self)), number.isFinite else { return nil }
            self = .number(number)
        }
    }
}
