import OfferCore
import OfferEligibility
import OfferReports

extension OwnedCustomer {
    /// Returns the values of tracked facts over time, by name. As in rules, the latest value counts if several identifiers
    /// of the customer have one.
    ///
    /// A fact that was set before it was tracked, and never since, counts from the time at which it was set.
    func factHistories(_ tracked: [TrackedFact]) -> [String: FactHistory] {
        let names = tracked.isEmpty && teamFacts.isEmpty ? [] : purchases.names
        var values = tracked.filter { names.contains($0.identifier) }
        let recorded = Set(values.map { TrackedFactTable.Subject(identifier: $0.identifier, name: $0.name) })
        values += teamFacts.filter { fact in
            !recorded.contains(TrackedFactTable.Subject(identifier: fact.identifier, name: fact.name))
        }.map(TrackedFact.init)
        return Dictionary(
            uniqueKeysWithValues: Dictionary(grouping: values, by: \.name).map { name, values in
                (name.description, FactHistory(values))
            })
    }
}

extension FactHistory {
    /// - Parameter values: the values of one fact, in any order.
    fileprivate init(_ values: [TrackedFact]) {
        let sorted = values.sorted { one, other in
            one.at == other.at ? one.identifier.precedes(other.identifier) : one.at < other.at
        }
        var known: [CustomerIdentifier: TrackedFact] = [:]
        let steps = sorted.map { value in
            known[value.identifier] = value.value == nil ? nil : value
            let latest = known.values.max { one, other in
                one.at == other.at ? one.identifier.precedes(other.identifier) : one.at < other.at
            }
            return Step(at: value.at, value: Value(latest?.value))
        }
        self.init(steps: steps)
    }
}

extension FactHistory.Value {
    fileprivate init(_ value: TeamFactValue?) {
        switch value {
        case .number(let utf8)?: self = Double(String(decoding: utf8, as: UTF8.self)).map(Self.init) ?? .other
        case .bool(false)?, nil: self = .none
        case .bool(true)?, .text?: self = .other
        }
    }
}
