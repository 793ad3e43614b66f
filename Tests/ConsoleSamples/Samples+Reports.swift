import OfferConsole
import OfferCore
import OfferReports

/// Reports of offers with invented customers.
extension Samples {
    static var reports: [(String, HTML)] {
        let good = report(offered: 0.62, count: 6000)
        let early = report(offered: 0.49, count: 240)
        func page(_ report: OfferReport?, _ work: ReportView.Work) -> HTML {
            let offer = offer("winback_1m")
            return ReportView(frame: frame(offer.address), now: now, offer: offer, report: report, work: work).html
        }
        let rows = [
            ReportsView.Row(offer("winback_1m"), good, .none), ReportsView.Row(offer("stay_3m"), early, .none),
            ReportsView.Row(offer("loyalty"), nil, .waiting(customersRead: 0)),
            ReportsView.Row(offer("upgrade", sample: nil), nil, .failed(at: days(-0.1))),
            ReportsView.Row(offer("loss"), report(offered: 0.35, count: 6000), .none),
            ReportsView.Row(offer("broken"), report(offered: 0.5, count: 3000, heldOut: 0.2), .none),
        ]
        let address = PageAddress("/reports", ["sort": "effect"])
        return [
            ("report", page(good, .none)), ("report-early", page(early, .waiting(customersRead: 1200))),
            ("report-first", page(nil, .waiting(customersRead: 12_000))),
            ("report-failed", page(nil, .failed(at: days(-0.01)))), ("report-refused", page(nil, .refused)),
            (
                "reports",
                ReportsView(
                    frame: frame(PageAddress("/reports")), rows: rows, campaigns: campaigns, order: .attention
                ).html
            ),
            ("reports-sorted", ReportsView(frame: frame(address), rows: rows, order: .effect).html),
            ("report-subscriptions", subscriptionReport),
            ("reports-empty", ReportsView(frame: frame(PageAddress("/reports")), rows: [], order: .attention).html),
        ]
    }

    private static let campaigns = [
        ReportsView.Campaign(
            name: "spring", app: "com.example.app", made: 18_000, heldOut: 2000, personalVisits: 9412,
            campaignVisits: 12, claimed: 3107, report: PageAddress("/reports/offer", ["offer": "winback_1m"])),
        ReportsView.Campaign(
            name: "banner", app: "com.example.app", made: 0, heldOut: 0, personalVisits: 0, campaignVisits: 530,
            claimed: 0, report: nil),
    ]

    /// Subscriptions with retention messages, some of them against a holdout.
    private static var subscriptionReport: HTML {
        var question = SubscriptionQuestion(asOf: now)
        question.plannedShares = ["stay": 0.9]
        var builder = SubscriptionReportBuilder(question)
        for number in 0..<900 {
            let start = days(-400 + Double(number % 390))
            let end = start + .days(30 * (1 + number % 9))
            var period = ReportedSubscription.Period(
                start: start, end: end, accessEnd: end, cause: EndCause.allCases[number % 5])
            period.product = number % 4 == 0 ? "com.example.app.pro.yearly" : "com.example.app.pro.monthly"
            period.storefront = ["USA", "DEU", "JPN"][number % 3]
            let subscription = ReportedSubscription([period])
            builder.add(subscription)
            guard number % 3 == 0 else { continue }
            var subject = RetentionSubject(subscription)
            let (asked, isHeldOut) = (start + .days(10), number % 30 == 0)
            subject.requests = [
                RetentionSubject.Request(
                    at: asked, answer: isHeldOut ? "message" : "promotional_offer", isShown: true,
                    caseNumber: isHeldOut ? 2 : 1, rule: isHeldOut ? "" : "loyalty")
            ]
            subject.placements = [
                RetentionSubject.Placement(
                    at: asked, productID: period.product, offerID: "stay_half_price", sample: "stay",
                    arm: isHeldOut ? .heldOut : .offered)
            ]
            if number % 2 == 0 { subject.turnedOffAt = [asked] }
            builder.add(subject)
        }
        let address = PageAddress("/reports/subscriptions", ["app": "com.example.app"])
        return SubscriptionReportView(
            frame: frame(address), now: now, app: "com.example.app", environment: "Production", zone: .utc,
            report: builder.report(), group: nil, work: .none, address: address
        ).html
    }

    private static func offer(_ name: String, sample: String? = "spring") -> ReportView.Offer {
        ReportView.Offer(
            offerID: name, productID: "com.example.app.pro.monthly", app: "com.example.app", environment: "Production",
            rule: "win_back", sample: sample, address: PageAddress("/reports/offer", ["offer": name]))
    }

    /// - Parameters:
    ///   - offered: the share of the arm offered that has access after the offer. Of the other arm, it is 0.45.
    ///   - heldOut: the share of customers who are held out. The rule says 0.1.
    private static func report(offered: Double, count: Int, heldOut: Double = 0.1) -> OfferReport {
        var question = ReportQuestion(
            productID: "com.example.app.pro.monthly", offerID: "winback_1m", sample: "spring", asOf: now)
        question.plannedShare = 0.9
        question.rulesDigest = String(repeating: "5f0c", count: 16)
        question.tracked = ["episodesWatched", "hasFamily"]
        var builder = OfferReportBuilder(question)
        for number in 0..<count {
            // The fractional parts of multiples of the golden ratio are evenly spread.
            func draw(_ factor: Double) -> Double {
                let product = Double(number) * factor * 0.618_033_988_749_895
                return product - product.rounded(.down)
            }
            let isHeldOut = Double(number % 20) < heldOut * 20
            var customer = ExposedCustomer(
                arm: isHeldOut ? .heldOut : .offered, exposedAt: days(-200 + 199 * draw(1)))
            customer.channel = number % 3 == 0 ? "retention" : "decision"
            customer.rule = "win_back"
            customer.storefront = ["USA", "DEU", "JPN"][number % 3]
            let start = customer.exposedAt + .days(Int(3 * draw(2)))
            if draw(3) < (isHeldOut ? 0.45 : offered) {
                let periods = 1 + Int(6 * draw(5))
                let ends = start + .days(30 * periods)
                let causes = EndCause.allCases
                customer.access = [AccessSpan(start: start, end: ends, cause: causes[number % causes.count])]
                customer.renewedAt = (1..<max(2, periods)).map { start + .days(30 * $0) }
                customer.payments = (0..<periods).map { place in
                    Payment(
                        at: start + .days(30 * place), currency: number % 3 == 1 ? "EUR" : "USD",
                        amount: place == 0 && !isHeldOut ? 4990 : 9990)
                }
                if !isHeldOut {
                    customer.redeemedAt = start
                    customer.afterDiscount = periods > 1 ? .kept : .lost
                }
            }
            let watched = FactHistory.Value(Double(Int(40 * draw(11)) + (isHeldOut ? 0 : 5)))
            let hasFamily: FactHistory.Value = draw(13) < 0.3 ? .other : .none
            customer.facts = [
                "episodesWatched": FactHistory(steps: [FactHistory.Step(at: start + .days(1), value: watched)]),
                "hasFamily": FactHistory(steps: [FactHistory.Step(at: start, value: hasFamily)]),
            ]
            if !isHeldOut {
                customer.signedAt = [customer.exposedAt]
                if draw(7) < 0.8 { customer.shownAt = customer.exposedAt }
            }
            builder.add(customer)
        }
        return builder.report()
    }
}
