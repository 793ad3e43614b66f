import OfferCore

/// A value from a set that Apple may extend without notice. An unknown value keeps its raw value.
package protocol OpenValue: RawRepresentable, Hashable, Sendable {
    init(rawValue: RawValue)
}
