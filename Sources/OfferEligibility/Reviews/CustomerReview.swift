package import OfferCore

/// A review of a customer: the events since the review before.
///
/// Each event is found once, because the state remembers it. A review reads all stored records, so their order of arrival
/// and the number of reviews do not matter. Only eligibility that begins and ends between two reviews is not found.
package struct CustomerReview: Sendable {
    /// The new events, in the order in which they happened.
    package let events: [CustomerEvent]
    package let state: ReviewState
    /// The time of the next review, unless a record changes earlier.
    package let next: Timestamp

    /// Older events are not sent, even if they have just become known.
    package static let maximumAge = Duration.days(30)
    /// The longest time between two reviews. It bounds the delay if ``ReviewDates`` misses a date.
    private static let longestInterval = Duration.hours(24)

    /// - Parameters:
    ///   - eligible: the offers that the customer may have now, according to the rules and the limits.
    ///   - recorded: the events that the records show.
    ///   - before: the state after the review before; nil for the first review.
    ///   - start: the time since which events are sent.
    ///   - isNew: true if the customer had no purchase before `start`, so the first review announces offers, too.
    ///   - exposures: the customer's exposures, which name placements.
    ///   - dates: the times at which something may change.
    ///   - delay: a number from 0 to 1 that spreads reviews without such a time.
    package init(
        eligible: [OfferTerms], recorded: [CustomerEvent], after before: ReviewState?, since start: Timestamp,
        isNew: Bool, exposures: [Exposure] = [], dates: [Timestamp], delay: Double, at now: Timestamp
    ) {
        let oldest = max(start, now - Self.maximumAge)
        let sent = before?.sent ?? [:]
        let known = before?.eligible ?? []
        let offers = eligible.map { terms in
            let offer = ReviewState.Offer(terms, since: before == nil && !isNew ? nil : now)
            return known.first { $0.isSame(offer) }.map { ReviewState.Offer(terms, at: $0.since) } ?? offer
        }
        func event(_ kind: CustomerEvent.Kind, _ offer: ReviewState.Offer) -> CustomerEvent {
            let productID = try? ProductID(utf8: Array(offer.productID.utf8))
            return CustomerEvent(
                kind, at: now, productID: productID, offerID: offer.offerID, rule: offer.rule,
                placement: productID.flatMap { exposures.placement(of: $0, offer.offerID) })
        }
        var events = recorded.filter { $0.at >= oldest && sent[$0.key] == nil }
        if before != nil || isNew {
            for offer in offers where !known.contains(where: { $0.isSame(offer) }) {
                events.append(event(.becameEligible, offer))
            }
        }
        for offer in known where !offers.contains(where: { $0.isSame(offer) }) {
            events.append(event(.noLongerEligible, offer))
        }
        self.events = events.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)
        let remembered = recorded.filter { $0.at >= oldest }.map { ($0.key, $0.at.milliseconds) }
        state = ReviewState(
            eligible: offers,
            sent: sent.filter { $0.value >= oldest.milliseconds }.merging(remembered, uniquingKeysWith: max))
        next = min(
            dates.filter { $0 > now }.min() ?? .max, now + Self.longestInterval * ((1 + delay) / 2))
    }
}

/// The result of a review that the next one needs. It names no person.
package struct ReviewState: Hashable, Sendable, Codable {
    package struct Offer: Hashable, Sendable, Codable {
        package let productID: String
        package let offerID: String
        /// The time since which the customer may have the offer, in milliseconds since 1970; nil if it is before the first
        /// review.
        package let since: Int64?
        /// The rule that allows it; nil if it has no name, or was not recorded.
        package let rule: String?
    }

    /// The offers that the customer may have.
    package let eligible: [Offer]
    /// The keys of the events that were found, with their times in milliseconds since 1970.
    package let sent: [String: Int64]

    package init(eligible: [Offer] = [], sent: [String: Int64] = [:]) {
        self.eligible = eligible
        self.sent = sent
    }

    /// Returns what both found. If both know an offer, this one's time counts.
    package func merging(_ other: ReviewState) -> ReviewState {
        ReviewState(
            eligible: eligible + other.eligible.filter { offer in !eligible.contains { $0.isSame(offer) } },
            sent: sent.merging(other.sent, uniquingKeysWith: max))
    }

    /// The time since which the customer may have an offer; nil if the customer may not have it, or could before the first
    /// review.
    package func eligibleSince(_ productID: ProductID, _ offerID: OfferID) -> Timestamp? {
        let offer = Offer(
            productID: productID.text.description, offerID: offerID.text.description, since: nil, rule: nil)
        return eligible.first { $0.isSame(offer) }?.since.map(Timestamp.init(milliseconds:))
    }
}

extension ReviewState.Offer {
    fileprivate init(_ terms: OfferTerms, since: Timestamp?) { self.init(terms, at: since?.milliseconds) }

    fileprivate init(_ terms: OfferTerms, at milliseconds: Int64?) {
        self.init(
            productID: terms.productID.text.description, offerID: terms.offerID.text.description, since: milliseconds,
            rule: terms.rule.name)
    }

    func isSame(_ other: ReviewState.Offer) -> Bool {
        productID == other.productID && offerID == other.offerID
    }
}
