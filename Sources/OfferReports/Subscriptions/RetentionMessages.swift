import OfferCore

/// The requests of the App Store for retention messages, and the outcomes.
package struct RetentionMessages: Hashable, Codable, Sendable {
    /// The outcomes of several subscriptions.
    package struct Outcomes: Hashable, Codable, Sendable {
        package internal(set) var subscriptions = 0
        /// The subscriptions whose auto-renew was turned off within a day, among those for whom the day is over.
        package internal(set) var cancelled = Share()
        /// The subscriptions with access on day 30, among those for whom it has come.
        package internal(set) var stayed = Share()
    }

    /// The requests that one case answered in one way.
    package struct Case: Hashable, Codable, Sendable {
        /// nil if no case applied, or in data of an earlier version.
        package let number: Int64?
        package let answer: String
        /// Empty if the case has no named rule.
        package let rule: String
        package internal(set) var requests = 0
        package internal(set) var shown = 0
        /// Each subscription counts at its first request of the case.
        package internal(set) var outcomes = Outcomes()
    }

    /// The customers whom an offer of a case could have had, by their place in its sample.
    package struct Holdout: Hashable, Codable, Sendable {
        package let productID: String
        package let offerID: String
        package let sample: String
        /// The share of customers in the sample; nil if the current rules do not name it.
        package let plannedShare: Double?
        package internal(set) var arms = ByArm(Outcomes(), Outcomes())

        package var cancelled: ByArm<Share> { ByArm(arms.offered.cancelled, arms.heldOut.cancelled) }

        package var stayed: ByArm<Share> { ByArm(arms.offered.stayed, arms.heldOut.stayed) }

        package var cancelledDifference: Difference? { difference(cancelled) }

        package var stayedDifference: Difference? { difference(stayed) }

        /// nil if the planned share is unknown.
        package var split: SplitTest? {
            let (offered, heldOut) = (arms.offered.subscriptions, arms.heldOut.subscriptions)
            return plannedShare.flatMap { planned in
                0 < planned && planned < 1 ? SplitTest(Share(offered, of: offered + heldOut), planned: planned) : nil
            }
        }

        /// The number of customers for which the always-valid intervals are tuned, as in a report of the offer.
        package var plannedSize: Double {
            var question = ReportQuestion(
                productID: productID, offerID: offerID, sample: sample, asOf: Timestamp(milliseconds: 0))
            question.plannedShare = plannedShare
            return question.plannedSize
        }

        /// - Returns: nil if the split is broken, because a comparison then has no meaning.
        private func difference(_ arms: ByArm<Share>) -> Difference? {
            split?.isBroken == true ? nil : arms.difference(plannedSize: plannedSize)
        }
    }

    package internal(set) var requests = 0
    package internal(set) var shown = 0
    /// Each subscription counts at its first request.
    package internal(set) var all = Outcomes()
    /// By number, without one last.
    package internal(set) var cases: [Case] = []
    package internal(set) var holdouts: [Holdout] = []

    /// The day after a request on which access is looked at.
    static let days = 30
}

/// Adds subscriptions to the numbers about retention messages. Their order makes no difference.
struct RetentionMessagesBuilder: Sendable {
    private struct CaseKey: Hashable {
        let number: Int64?
        let answer: String
        let rule: String

        var order: (Int64, String, String) { (number ?? .max, answer, rule) }
    }

    private struct OfferKey: Hashable {
        let productID: String
        let offerID: String
        let sample: String

        var order: (String, String, String) { (productID, offerID, sample) }
    }

    private let question: SubscriptionQuestion
    private var messages = RetentionMessages()
    private var cases: [CaseKey: RetentionMessages.Case] = [:]
    private var holdouts: [OfferKey: RetentionMessages.Holdout] = [:]

    /// An exposure that is this close to a request was made by it.
    private static let closeness = Duration.seconds(600)

    init(_ question: SubscriptionQuestion) { self.question = question }

    mutating func add(_ subject: RetentionSubject) {
        let asOf = question.asOf
        let requests = subject.requests.filter { $0.at <= asOf }.sorted { $0.at < $1.at }
        guard let first = requests.first else { return }
        messages.all.add(subject, since: first.at, asOf: asOf)
        messages.requests += requests.count
        messages.shown += requests.count { $0.isShown }
        for (key, requests) in Dictionary(
            grouping: requests,
            by: { request in
                CaseKey(number: request.caseNumber, answer: request.answer, rule: request.rule)
            })
        {
            var row = cases[key] ?? RetentionMessages.Case(number: key.number, answer: key.answer, rule: key.rule)
            row.requests += requests.count
            row.shown += requests.count { $0.isShown }
            // Grouping keeps the order.
            row.outcomes.add(subject, since: requests[0].at, asOf: asOf)
            cases[key] = row
        }
        for placement in subject.placements where placement.at <= asOf {
            // Of a customer with several subscriptions, only the one of the request counts.
            guard
                requests.contains(where: {
                    placement.at - Self.closeness <= $0.at && $0.at <= placement.at + Self.closeness
                })
            else { continue }
            let key = OfferKey(
                productID: placement.productID, offerID: placement.offerID, sample: placement.sample)
            var holdout =
                holdouts[key]
                ?? RetentionMessages.Holdout(
                    productID: key.productID, offerID: key.offerID, sample: key.sample,
                    plannedShare: question.plannedShares[key.sample])
            holdout.arms[placement.arm].add(subject, since: placement.at, asOf: asOf)
            holdouts[key] = holdout
        }
    }

    var result: RetentionMessages {
        var messages = messages
        messages.cases = cases.sorted { $0.key.order < $1.key.order }.map(\.value)
        messages.holdouts = holdouts.sorted { $0.key.order < $1.key.order }.map(\.value)
        return messages
    }
}

extension RetentionMessages.Outcomes {
    fileprivate mutating func add(_ subject: RetentionSubject, since time: Timestamp, asOf: Timestamp) {
        subscriptions += 1
        let (day, later) = (time.adding(days: 1), time.adding(days: RetentionMessages.days))
        if day <= asOf { cancelled.add(subject.turnedOffAt.contains { time <= $0 && $0 <= day }) }
        if later <= asOf { stayed.add(subject.subscription.hasAccess(at: later)) }
    }
}
