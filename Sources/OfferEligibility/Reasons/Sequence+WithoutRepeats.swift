import OfferCore

extension Sequence where Element: Equatable {
    /// The distinct elements. Use it for short sequences, because it compares each element with the earlier ones.
    var withoutRepeats: [Element] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
