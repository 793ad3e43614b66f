import OfferCore

/// Determines the owner of a subscription whose periods were bought by several accounts of the app.
///
/// The raw values are configuration values.
package enum OwnershipPolicy: String, CaseIterable, Hashable, Sendable {
    /// The account of the earliest purchase that names one.
    case first
    /// The account of the latest purchase that names one.
    case transfer
    /// Every account that a purchase names.
    case share
}
