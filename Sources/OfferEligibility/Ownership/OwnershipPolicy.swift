import OfferCore

/// Who counts as the customer of a subscription that several accounts of the app have bought periods of.
///
/// The raw values are those of the configuration.
package enum OwnershipPolicy: String, CaseIterable, Hashable, Sendable {
    /// The account of the earliest purchase that names one.
    case first
    /// The account of the latest purchase that names one.
    case transfer
    /// Every account that a purchase names.
    case share
}
