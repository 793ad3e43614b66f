/// The statement that the data permit about the effect of an offer.
package enum Verdict: Hashable, Codable, Sendable {
    /// Nobody is held out, so nothing can be said.
    case noHoldout
    /// Both arms have customers, but one has none who were followed for long enough.
    case tooEarly
    /// The split between the arms is not as planned. Something is wrong with the experiment.
    case broken
    /// The effect is not 0.
    case clear(isGain: Bool)
    /// The effect is smaller than the smallest one worth having.
    case small
    /// - Parameter more: the customers who are still needed to see the smallest effect worth having, with two significant
    ///   digits; 0 if enough have been exposed. nil if the number is unknown.
    case notClear(more: Int?)

    /// The always-valid interval decides. Its formula is for large groups, so the interval for a single look, which is
    /// exact enough for small ones, must agree.
    /// - Parameters:
    ///   - difference: nil if an arm has no customers who were followed for long enough.
    ///   - exposed: the customers of each arm.
    ///   - smallest: the smallest effect worth having; nil if there is none.
    init(_ difference: Difference?, _ exposed: ByArm<Int>, isBroken: Bool, smallest: Double?, more: Int?) {
        guard !isBroken else {
            self = .broken
            return
        }
        guard let difference else {
            self = exposed.offered > 0 && exposed.heldOut > 0 ? .tooEarly : .noHoldout
            return
        }
        if let once = difference.once, let always = difference.always, once.excludesZero, always.excludesZero {
            self = .clear(isGain: difference.value > 0)
        } else if let smallest, let once = difference.once, let always = difference.always, once.isWithin(smallest),
            always.isWithin(smallest)
        {
            self = .small
        } else {
            self = .notClear(more: more)
        }
    }

    package var name: String {
        switch self {
        case .noHoldout: "no_holdout"
        case .tooEarly: "too_early"
        case .broken: "broken"
        case .clear: "clear"
        case .small: "small"
        case .notClear: "not_clear"
        }
    }
}

extension Int {
    /// The number with two significant digits, rounded up.
    var roughly: Int {
        var power = 1
        while self / power >= 100 { power *= 10 }
        return (self + power - 1) / power * power
    }
}
