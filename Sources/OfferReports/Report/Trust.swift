/// The checks that tell if the comparison of the arms can be believed.
package struct Trust: Hashable, Codable, Sendable {
    package struct Week: Hashable, Codable, Sendable {
        /// The Monday, such as `2026-11-16`.
        package let start: String
        package let arms: ByArm<Int>
        package let split: SplitTest?
    }

    /// nil if the planned share is unknown.
    package let split: SplitTest?
    /// The oldest first.
    package let weeks: [Week]
    /// The customers who were held out and still redeemed the offer.
    package let heldOutRedeemers: Int
    /// The number of different rules under which customers were exposed. The arms of different rules may differ.
    package let rules: Int
    /// The number of customers for which the always-valid interval is tuned.
    package let plannedSize: Int
    /// The customers in both arms with which the always-valid interval would show the smallest effect worth having; nil if
    /// the number cannot be estimated yet.
    package let needed: Int?

    package var isBroken: Bool { split?.isBroken ?? false }
}
