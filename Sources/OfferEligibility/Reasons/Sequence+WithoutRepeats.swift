import OfferCore

extension Sequence where Element: Equatable {
    /// The elements without repeats. Suitable for few elements, because each is compared with all before it.
    var withoutRepeats: [Element] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
