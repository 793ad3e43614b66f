package import OfferCore

/// One subscription about which the App Store requested a retention message.
package struct RetentionSubject: Sendable {
    /// A request, and its answer.
    package struct Request: Hashable, Sendable {
        package let at: Timestamp
        /// The kind of the answer, such as `message`.
        package let answer: String
        /// True if a message was shown.
        package let isShown: Bool
        /// The place of the case in the configuration, from 1; nil if no case applied, or in data of an earlier version.
        package let caseNumber: Int64?
        /// Empty if the case has no named rule.
        package let rule: String

        package init(at: Timestamp, answer: String, isShown: Bool, caseNumber: Int64?, rule: String) {
            self.at = at
            self.answer = answer
            self.isShown = isShown
            self.caseNumber = caseNumber
            self.rule = rule
        }
    }

    /// The customer's place in the sample of an offer, at the first request at which everything else held.
    package struct Placement: Hashable, Sendable {
        package let at: Timestamp
        package let productID: String
        package let offerID: String
        package let sample: String
        package let arm: ExposedCustomer.Arm

        package init(
            at: Timestamp, productID: String, offerID: String, sample: String, arm: ExposedCustomer.Arm
        ) {
            self.at = at
            self.productID = productID
            self.offerID = offerID
            self.sample = sample
            self.arm = arm
        }
    }

    package let subscription: ReportedSubscription
    /// In any order.
    package var requests: [Request] = []
    package var placements: [Placement] = []
    /// The times at which the App Store reported that auto-renew is off.
    package var turnedOffAt: [Timestamp] = []

    package init(_ subscription: ReportedSubscription) { self.subscription = subscription }
}
