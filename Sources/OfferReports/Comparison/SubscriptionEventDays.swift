package import OfferCore

/// The events of subscriptions by day, as they are counted here. The order of the subscriptions makes no difference.
package struct SubscriptionEventDays: Sendable {
    private var days: [ReportZone: [CivilDay: [ComparedEvent: Int]]] = [:]
    private let asOf: Timestamp

    /// - Parameter asOf: the time up to which events count.
    package init(asOf: Timestamp) { self.asOf = asOf }

    package mutating func add(_ subscription: ReportedSubscription) {
        let periods = subscription.periods
        var earlier: ReportedSubscription.Period?
        for run in subscription.runs {
            let first = periods[run.lowerBound]
            if let earlier {
                let renewed: ComparedEvent = earlier.hasFailed ? .recovered : .renewed
                count(first.isRenewal ? renewed : .resubscribed, at: first.start)
            } else if subscription.isKnownFromStart {
                count(.new, at: first.start)
            }
            for place in run.dropFirst()
            where periods[place].isRenewal && periods[place].product == periods[place - 1].product {
                count(.renewed, at: periods[place].start)
            }
            let last = periods[run.upperBound]
            earlier = last
            switch last.cause {
            case .cancelled, .price, .other: count(.cancelled, at: last.accessEnd)
            case .billing: count(.inRetry, at: last.accessEnd)
            case .refunded: break
            }
        }
    }

    private mutating func count(_ event: ComparedEvent, at time: Timestamp) {
        guard time <= asOf else { return }
        for zone in ReportZone.allCases {
            days[zone, default: [:]][CivilDay(containing: zone.local(time)), default: [:]][event, default: 0] += 1
        }
    }

    func count(_ event: ComparedEvent, on day: CivilDay, in zone: ReportZone) -> Int {
        days[zone]?[day]?[event] ?? 0
    }
}
