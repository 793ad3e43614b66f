package import OfferCore

/// The values of one fact of the team over time, for one customer.
package struct FactHistory: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        /// The customer has a number, in thousandths.
        case number(Int64)
        /// The customer has another value.
        case other
        /// The fact is not set, or it is false.
        case none
    }

    package struct Step: Hashable, Sendable {
        package let at: Timestamp
        package let value: Value

        package init(at: Timestamp, value: Value) {
            self.at = at
            self.value = value
        }
    }

    /// The times at which the value changed, ascending. Of several at the same time, the last one counts.
    package var steps: [Step]

    package init(steps: [Step] = []) { self.steps = steps }

    func value(at time: Timestamp) -> Value { steps.last { $0.at <= time }?.value ?? .none }
}

extension FactHistory.Value {
    /// Numbers beyond this one, in thousandths, count like it, so that sums stay exact.
    private static let limit: Int64 = 1_000_000_000_000

    package init(_ number: Double) {
        let thousandths = (number * 1000).rounded()
        guard !thousandths.isNaN else {
            self = .none
            return
        }
        self = .number(Int64(min(max(thousandths, Double(-Self.limit)), Double(Self.limit))))
    }

    /// The number in thousandths; 0 if the value is no number.
    var amount: Int64 { if case .number(let amount) = self { amount } else { 0 } }
}
