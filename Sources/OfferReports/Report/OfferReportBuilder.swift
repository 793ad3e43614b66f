import OfferCore

/// Adds customers to a report. Their order makes no difference to the result.
///
/// It keeps counts and the few numbers that curves and variances need, not the customers.
package struct OfferReportBuilder {
    private let question: ReportQuestion
    private let accessDays: [Int]
    private var funnel = OfferReport.Funnel()
    private var access: [OfferReport.DayOfAccess]
    private var effect = ByArm<Share>()
    private var paid = PaidSums()
    private var engagement: [String: EngagementSums] = [:]
    private var redeemers: [FollowedRedeemer] = []
    private var churn: [CivilDay: OfferReport.PeriodChurn] = [:]
    private var cohorts: [CivilDay: OfferReport.Outcomes] = [:]
    /// Of complete cohorts, as the groups.
    private var total = OfferReport.Outcomes()
    private var groups: [OfferReport.Group.Kind: [String: OfferReport.Outcomes]] = [:]
    private var weeks: [CivilDay: ByArm<Int>] = [:]
    private var heldOutRedeemers = 0
    private var rules: Set<String> = []

    package init(_ question: ReportQuestion) {
        self.question = question
        accessDays = question.accessDays
        access = accessDays.map { OfferReport.DayOfAccess(day: $0) }
    }

    /// Adds a customer, unless the exposure is later than the report.
    package mutating func add(_ customer: ExposedCustomer) {
        guard customer.exposedAt <= question.asOf else { return }
        funnel.exposed[customer.arm] += 1
        if customer.isErased { funnel.erased[customer.arm] += 1 }
        weeks[CohortSpan.week.first(containing: customer.exposedAt, in: question.zone), default: ByArm()][
            customer.arm] += 1
        rules.insert(customer.rulesDigest)
        addOutcomes(customer)
        guard !customer.isErased else { return }
        for place in accessDays.indices {
            let time = customer.exposedAt.adding(days: accessDays[place])
            guard time <= question.asOf else { break }
            access[place].arms[customer.arm].add(customer.hasAccess(at: time))
        }
        paid.add(customer, question)
        addEngagement(customer)
        let hasRedeemed = customer.redeemedAt.map { $0 <= question.asOf } ?? false
        switch customer.arm {
        case .heldOut: if hasRedeemed { heldOutRedeemers += 1 }
        case .offered:
            addToFunnel(customer, hasRedeemed: hasRedeemed)
            if hasRedeemed, let redeemer = FollowedRedeemer(customer, until: question.asOf) {
                redeemers.append(redeemer)
                addChurn(customer, from: redeemer.start)
            }
        }
    }

    private mutating func addToFunnel(_ customer: ExposedCustomer, hasRedeemed: Bool) {
        let signatures = customer.signedAt.count { $0 <= question.asOf }
        funnel.signatures += signatures
        if signatures > 0 { funnel.signed += 1 }
        if let shown = customer.shownAt, shown <= question.asOf { funnel.shown += 1 }
        guard hasRedeemed else { return }
        funnel.redeemed += 1
        switch customer.afterDiscount {
        case .notYet: break
        case .kept, .lost: funnel.kept.add(customer.afterDiscount == .kept)
        case .unknown: funnel.keptUnknown += 1
        }
    }

    private mutating func addOutcomes(_ customer: ExposedCustomer) {
        var outcomes = OfferReport.Outcomes()
        outcomes.exposed[customer.arm] = 1
        if !customer.isErased {
            let conversionEnd = customer.exposedAt.adding(days: question.conversionDays)
            if conversionEnd <= question.asOf {
                outcomes.converted[customer.arm].add(customer.redeemedAt.map { $0 <= conversionEnd } ?? false)
            }
            let effectTime = customer.exposedAt.adding(days: question.effectDay)
            if effectTime <= question.asOf { outcomes.access[customer.arm].add(customer.hasAccess(at: effectTime)) }
        }
        effect += outcomes.access
        let cohort = question.span.first(containing: customer.exposedAt, in: question.zone)
        cohorts[cohort, default: OfferReport.Outcomes()] += outcomes
        outcomes.keep(
            conversion: isComplete(cohort, after: question.conversionDays),
            access: isComplete(cohort, after: question.effectDay))
        total += outcomes
        groups[.channel, default: [:]][customer.channel, default: OfferReport.Outcomes()] += outcomes
        groups[.rule, default: [:]][customer.rule ?? "", default: OfferReport.Outcomes()] += outcomes
        groups[.storefront, default: [:]][customer.storefront ?? "", default: OfferReport.Outcomes()] += outcomes
    }

    private mutating func addEngagement(_ customer: ExposedCustomer) {
        guard customer.exposedAt.adding(days: question.effectDay) <= question.asOf else { return }
        let cohort = question.span.first(containing: customer.exposedAt, in: question.zone)
        for fact in question.tracked {
            engagement[fact, default: EngagementSums()].add(fact, of: customer, cohort, question)
        }
    }

    private mutating func addChurn(_ customer: ExposedCustomer, from start: Timestamp) {
        var day = question.span.first(containing: start, in: question.zone)
        while true {
            let next = question.span.next(after: day)
            let (begin, end) = (question.zone.time(local: day.start), question.zone.time(local: next.start))
            guard begin <= question.asOf else { return }
            let known = min(end, question.asOf)
            var period =
                churn[day]
                ?? OfferReport.PeriodChurn(start: day.text, isComplete: end <= question.asOf)
            if start <= begin, let span = customer.access.first(where: { $0.start <= begin && begin < $0.end }) {
                period.ended.add(span.end <= known)
            }
            period.resubscribed += customer.access.count { start < $0.start && begin <= $0.start && $0.start < known }
            churn[day] = period
            day = next
        }
    }

    package func report() -> OfferReport {
        let cohorts = cohorts.sorted { $0.key < $1.key }.map { day, outcomes in
            OfferReport.Cohort(
                start: day.text, outcomes: outcomes,
                isConversionComplete: isComplete(day, after: question.conversionDays),
                isAccessComplete: isComplete(day, after: question.effectDay))
        }
        let trust = trust
        return OfferReport(
            question: question, funnel: funnel, access: access, effect: effect(trust),
            paid: paid.rows(question, funnel.exposed, isBroken: trust.isBroken),
            engagement: question.tracked.map { fact in
                (engagement[fact] ?? EngagementSums()).engagement(fact, question) { day in
                    isComplete(day, after: question.effectDay)
                }
            },
            retention: OfferReport.Retention(redeemers),
            churn: churn.sorted { $0.key < $1.key }.map(\.value), cohorts: cohorts, total: total,
            groups: sortedGroups, trust: trust)
    }

    /// Returns true if every customer of a cohort was exposed so many days ago.
    private func isComplete(_ cohort: CivilDay, after days: Int) -> Bool {
        question.zone.time(local: question.span.next(after: cohort).start).adding(days: days) <= question.asOf
    }

    private var sortedGroups: [OfferReport.Group] {
        OfferReport.Group.Kind.allCases.flatMap { kind in
            (groups[kind] ?? [:]).sorted { $0.key < $1.key }.map { name, outcomes in
                OfferReport.Group(kind: kind, name: name, outcomes: outcomes)
            }
        }
    }

    private func effect(_ trust: Trust) -> OfferReport.Effect {
        let difference = effect.difference(plannedSize: question.plannedSize)
        let more = trust.needed.map { max(0, $0 - funnel.exposed.total + funnel.erased.total).roughly }
        return OfferReport.Effect(
            arms: effect, difference: difference,
            verdict: Verdict(
                difference, funnel.exposed, isBroken: trust.isBroken, smallest: question.smallestEffect, more: more))
    }

    private var trust: Trust {
        func split(_ arms: ByArm<Int>) -> SplitTest? {
            question.plannedShare.flatMap { planned in
                planned < 1 ? SplitTest(Share(arms.offered, of: arms.total), planned: planned) : nil
            }
        }
        return Trust(
            split: split(funnel.exposed),
            weeks: weeks.sorted { $0.key < $1.key }.map { day, arms in
                Trust.Week(start: day.text, arms: arms, split: split(arms))
            }, heldOutRedeemers: heldOutRedeemers, rules: rules.count, plannedSize: Int(question.plannedSize),
            needed: neededCustomers)
    }

    private var neededCustomers: Int? {
        let (one, other) = (SampleMoments(effect.offered), SampleMoments(effect.heldOut))
        guard one.count > 0, other.count > 0, question.smallestEffect > 0 else { return nil }
        // Where all customers of an arm have the same outcome, there are too few to know the variance.
        guard one.varianceOfMean > 0, other.varianceOfMean > 0 else { return nil }
        let variance = (one.varianceOfMean + other.varianceOfMean) * Double(one.count + other.count)
        return SampleSize.forAnyLook(
            effect: question.smallestEffect, variance: variance, plannedSize: question.plannedSize
        ).map { Int($0) }
    }
}

extension OfferReport.Outcomes {
    static func += (left: inout Self, right: Self) {
        left.exposed.offered += right.exposed.offered
        left.exposed.heldOut += right.exposed.heldOut
        left.converted += right.converted
        left.access += right.access
    }

    /// Removes the numbers of a cohort that is not complete.
    fileprivate mutating func keep(conversion: Bool, access hasAccess: Bool) {
        if !conversion { (exposed, converted) = (ByArm(), ByArm()) }
        if !hasAccess { access = ByArm() }
    }
}

extension OfferReport {
    package init(_ question: ReportQuestion, _ customers: some Sequence<ExposedCustomer>) {
        var builder = OfferReportBuilder(question)
        for customer in customers { builder.add(customer) }
        self = builder.report()
    }
}
