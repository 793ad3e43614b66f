/// How much of a customer's purchases in an app is known.
package enum HistoryExtent: Hashable, Sendable {
    /// Something may be missing, so that a purchase was never made is not known.
    case partial
    /// A receipt or a history was given as complete, or every known subscription is known from its first transaction on.
    case whole
}
