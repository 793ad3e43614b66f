import OfferConsole
import OfferCore

extension Samples {
    private static let address = PageAddress("/customer", ["app": "com.example.app", "id": "7041234567890100000001"])

    private static var pro: SubscriptionView {
        var periods: [SubscriptionView.Period] = []
        for place in 0..<10 {
            let start = days(-291 + Double(place) * 30.4)
            let kind: PeriodKind = place == 0 ? .trial : place == 8 ? .promotional : .regular
            periods.append(
                SubscriptionView.Period(
                    transactionID: "200000010000001\(place)", productID: "com.example.app.pro", start: start,
                    end: Timestamp(milliseconds: start.milliseconds + 2_626_560_000), kind: kind,
                    offerID: place == 8 ? "thanks" : nil, refundedAt: place == 4 ? days(-291 + 4.4 * 30.4) : nil))
        }
        var subscription = SubscriptionView(
            originalTransactionID: "2000000100000010", productID: "com.example.app.pro", status: .active,
            periods: periods)
        subscription.autoRenews = false
        subscription.expiresAt = days(13)
        subscription.renewals = 9
        subscription.subscribedSince = days(-291)
        subscription.price = "4.99 EUR"
        subscription.seats = (count: 12, refunded: 3, next: 9)
        subscription.isRefundPending = true
        return subscription
    }

    private static var basic: SubscriptionView {
        let periods = (0..<4).map { (place: Int) -> SubscriptionView.Period in
            let start = days(-560 + Double(place) * 30.4)
            return SubscriptionView.Period(
                transactionID: "200000010000000\(place)", productID: "com.example.app.basic",
                start: start, end: Timestamp(milliseconds: start.milliseconds + 2_626_560_000),
                kind: place == 0 ? .introductory : .regular, offerID: place == 0 ? "intro_1m" : nil)
        }
        var subscription = SubscriptionView(
            originalTransactionID: "2000000100000000", productID: "com.example.app.basic", status: .expired,
            periods: periods)
        subscription.endedAt = days(-438)
        subscription.endedBecause = .cancelled
        subscription.ownership = .purchased
        return subscription
    }

    private static func verdicts(_ whatIf: WhatIf) -> [OfferVerdict] {
        let pro = "com.example.app.pro"
        let isChanged = whatIf.autoRenew != .asIs
        return [
            OfferVerdict(
                offerID: "winback", productID: pro, rule: "win_back",
                reasons: [
                    OfferVerdict.Reason("The status of the subscription is active; the rule requires expired."),
                    OfferVerdict.Reason("The reason for the end is none; the rule requires cancelled or refunded."),
                ]),
            OfferVerdict(offerID: "stay", productID: pro, rule: "retention", reasons: []),
            OfferVerdict(
                offerID: "sorry", productID: pro, rule: "customer_service",
                reasons: isChanged
                    ? [] : [OfferVerdict.Reason("The fact careTicket is none; the rule requires any value.")],
                isChanged: isChanged),
            OfferVerdict(
                offerID: "please", productID: pro, rule: "save",
                reasons: [
                    OfferVerdict.Reason(
                        "The fact churnRisk is not known.", remedy: "Set it with PUT /v1/customers/facts.")
                ]),
            OfferVerdict(
                offerID: "thanks", productID: pro, rule: "loyalty",
                reasons: [OfferVerdict.Reason("The customer's last redemption of an offer is too recent.")]),
        ]
    }

    private static var timeline: TimelineView {
        let entries: [(Double, TimelineView.Kind, String)] = [
            (-0.05, .grant, "thanks for com.example.app.pro approved by Grace Example"),
            (
                -0.06, .grant,
                "thanks for com.example.app.pro granted by Ada Example, reason outage, to be approved by a second person"
            ),
            (-0.1, .refused, "winback held out by the sample winback_2026"),
            (-0.1, .reported, "the app reports stay for com.example.app.pro as dismissed"),
            (-0.1, .signed, "stay for com.example.app.pro, by the rule retention"),
            (
                -0.2, .shown,
                "the App Store was told to show the offer stay for com.example.app.pro before a cancellation, by the rule retention"
            ),
            (-0.3, .autoRenew, "switched off (com.example.app.pro)"),
            (-17.4, .renewal, "com.example.app.pro, transaction 2000000100000019"),
            (-47.8, .redeemed, "thanks for com.example.app.pro"),
            (-108.6, .billing, "failed; the App Store retries (com.example.app.pro)"),
            (-157.2, .refund, "transaction 2000000100000015, 50 % of the price"),
            (-291, .purchase, "com.example.app.pro with an offer (trial), transaction 2000000100000010"),
            (-438, .ended, "access to com.example.app.basic ended (cancelled)"),
        ]
        return TimelineView(
            entries: entries.map { TimelineView.Entry(at: days($0.0), kind: $0.1, sentence: $0.2) },
            older: address.with("before", "1"))
    }

    static func customer(_ whatIf: WhatIf = WhatIf()) -> CustomerView {
        let source = CustomerView.Source(rule: "retention", channel: "decision")
        let (pro, basic) = (pro, basic)
        return CustomerView(
            frame: frame(address), now: now, address: address, app: "com.example.app", environment: "Production",
            identifiers: [
                CustomerView.Identifier(.appAccountToken, "d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10"),
                CustomerView.Identifier(.appTransactionID, "7041234567890100000001"),
            ], storefront: "DEU", subscriptions: [pro, basic], verdicts: verdicts(whatIf),
            answer: AppAnswer(state: "active", hasOffer: true, alternative: nil), whatIf: whatIf,
            authorisations: [
                CustomerView.Authorisation(
                    offerID: "stay", productID: "com.example.app.pro", state: .outstanding, at: days(-0.1),
                    expiresAt: days(0.9), source: source),
                CustomerView.Authorisation(
                    offerID: "thanks", productID: "com.example.app.pro", state: .redeemed, at: days(-48),
                    expiresAt: days(-47), source: CustomerView.Source(rule: nil, channel: "retention")),
            ],
            redemptions: [
                CustomerView.Redemption(
                    kind: .promotional, offerID: "thanks", productID: "com.example.app.pro",
                    transactionID: "2000000100000018", at: days(-47.8), isAuthorised: true),
                CustomerView.Redemption(
                    kind: .introductory, offerID: "intro_1m", productID: "com.example.app.basic",
                    transactionID: "2000000100000000",
                    at: days(-560), isAuthorised: nil),
            ],
            exposures: [
                CustomerView.Exposure(
                    offerID: "stay", productID: "com.example.app.pro", isHeldOut: false, sample: "stay_2026",
                    at: days(-0.1), source: source, placement: "cancel"),
                CustomerView.Exposure(
                    offerID: "winback", productID: "com.example.app.pro", isHeldOut: true, sample: "winback_2026",
                    at: days(-400), source: source, placement: nil),
            ],
            facts: [
                CustomerView.Fact(name: "episodesWatched", value: "40"),
                CustomerView.Fact(name: "plan", value: "annual, from the web shop"),
            ],
            links: [
                CustomerView.Link(
                    identifier: CustomerView.Identifier(.originalTransactionID, "2000000100000000"),
                    account: CustomerView.Identifier(.appAccountToken, "d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10"))
            ], timeline: timeline)
    }

    static var unknownCustomer: CustomerView {
        CustomerView(
            frame: frame(address), now: now, address: address, app: "com.example.app", environment: "Sandbox",
            identifiers: [CustomerView.Identifier(.applicationUsername, "sam")], storefront: nil, isComplete: false,
            subscriptions: [], verdicts: [], answer: AppAnswer(state: nil, hasOffer: false, alternative: nil),
            authorisations: [], redemptions: [], exposures: [], facts: [], links: [],
            timeline: TimelineView(entries: []))
    }

    /// A customer with hostile text in every field that anyone can set.
    static var hostileCustomer: CustomerView {
        let script = #"<script>document.title='owned'</script>"'><img src=x onerror=alert(1)>"#
        let text =
            script + "\u{202E}reversed\u{2066} שלום עולם \u{0}\u{1B} " + String(repeating: "long", count: 260_000)
        var subscription = SubscriptionView(
            originalTransactionID: text, productID: text, status: .billingGracePeriod,
            periods: [
                SubscriptionView.Period(
                    transactionID: text, productID: text, start: days(-20), end: days(10), kind: .promotional,
                    offerID: text)
            ])
        subscription.autoRenews = true
        subscription.autoRenewProductID = text
        subscription.pendingOffer = (.winBack, text)
        let identifier = CustomerView.Identifier(.applicationUsername, text)
        let source = CustomerView.Source(rule: text, channel: text)
        return CustomerView(
            frame: frame(PageAddress("/customer", ["id": text])), now: now,
            address: PageAddress("/customer", ["id": script]),
            app: text, environment: "Production", identifiers: [identifier], storefront: script,
            subscriptions: [subscription],
            verdicts: [
                OfferVerdict(
                    offerID: text, productID: text, rule: text, reasons: [OfferVerdict.Reason(text, remedy: script)])
            ], answer: AppAnswer(state: "payment_failed", hasOffer: false, alternative: text),
            whatIf: WhatIf(autoRenew: .on, factName: script, factValue: text),
            authorisations: [
                CustomerView.Authorisation(
                    offerID: text, productID: text, state: .expired, at: .init(milliseconds: .min),
                    expiresAt: .init(milliseconds: .max), source: source)
            ],
            redemptions: [
                CustomerView.Redemption(
                    kind: .otherOffer, offerID: text, productID: text, transactionID: text, at: now, isAuthorised: false
                )
            ],
            exposures: [
                CustomerView.Exposure(
                    offerID: nil, productID: text, isHeldOut: true, sample: text, at: now, source: source,
                    placement: text)
            ], facts: [CustomerView.Fact(name: text, value: text)],
            links: [CustomerView.Link(identifier: identifier, account: identifier)],
            timeline: TimelineView(entries: [TimelineView.Entry(at: now, kind: .data, sentence: text)]))
    }
}
