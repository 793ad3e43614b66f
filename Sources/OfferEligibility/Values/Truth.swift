import OfferCore

/// True, false or unknown: Kleene's three-valued logic.
package enum Truth: Hashable, Sendable {
    case yes, no, unknown

    package init(_ value: Bool?) {
        switch value {
        case true?: self = .yes
        case false?: self = .no
        case nil: self = .unknown
        }
    }

    /// Returns `no` if any is `no`, else `unknown` if any is `unknown`, else `yes`, also for an empty sequence.
    package static func all(_ truths: some Sequence<Truth>) -> Truth {
        var result = Truth.yes
        for truth in truths {
            switch truth {
            case .no: return .no
            case .unknown: result = .unknown
            case .yes: continue
            }
        }
        return result
    }

    /// Returns `yes` if any is `yes`, else `unknown` if any is `unknown`, else `no`, also for an empty sequence.
    package static func any(_ truths: some Sequence<Truth>) -> Truth { !all(truths.lazy.map { !$0 }) }

    package static prefix func ! (truth: Truth) -> Truth {
        switch truth {
        case .yes: .no
        case .no: .yes
        case .unknown: .unknown
        }
    }
}
