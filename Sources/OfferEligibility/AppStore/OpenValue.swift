import OfferCore

/// A value of a list that Apple extends without notice. An unknown value keeps its raw form.
package protocol OpenValue: RawRepresentable, Hashable, Sendable {
    init(rawValue: RawValue)
}
