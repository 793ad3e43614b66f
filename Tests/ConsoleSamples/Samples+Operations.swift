import OfferConsole
import OfferCore

extension Samples {
    static var catalogue: [OffersView.Offer] {
        func offer(
            _ offerID: String, _ name: String?, _ rule: String?, _ limits: [String], _ total: OffersView.Total?,
            _ counts: (Int64, Int64), _ arms: (Int64, Int64) = (0, 0)
        ) -> OffersView.Offer {
            OffersView.Offer(
                offerID: offerID, productID: "com.example.app.pro", app: "com.example.app", ruleName: name, rule: rule,
                limits: limits, total: total, signed: counts.0, redeemed: counts.1, offered: arms.0, heldOut: arms.1,
                address: PageAddress("/offers", ["offer": offerID]))
        }
        return [
            offer(
                "winback", "win_back",
                "One subscription has expired because the customer cancelled or got a refund, at least 7 days ago.",
                ["once in 365 days for each customer"], nil, (4_812, 377), (4_390, 488)),
            offer(
                "stay", "retention", "One subscription is active, and its auto-renew is off.",
                ["once for each customer"], OffersView.Total(used: 9_402, limit: 10_000), (11_204, 2_877),
                (9_800, 1_090)),
            offer(
                "please", "save", "The fact churnRisk is high, and one subscription renews.", [],
                OffersView.Total(used: 500, limit: 500), (640, 500), (500, 0)),
            offer(
                "thanks", "loyalty", "One subscription has at least 11 renewals.", ["180 days after any offer"],
                OffersView.Total(used: 12, limit: 2_000), (40, 12)),
            offer("retention_50off_3m", nil, nil, [], nil, (120, 31)),
        ]
    }

    static func offers(selected: Int? = nil) -> OffersView {
        var counts: [OffersView.Day] = []
        for place in 0..<28 {
            let wave = Int64(place * place * 37 % 53)
            counts.append(
                OffersView.Day(start: days(Double(place - 27)), signed: 60 + wave * 2, redeemed: 14 + wave * 7 % 19))
        }
        let chosen = selected.map { catalogue[$0] }
        return OffersView(
            frame: frame(PageAddress("/offers")), offers: catalogue, selected: chosen, days: counts,
            csv: PageAddress("/offers.csv"))
    }

    static var alarms: AlarmsView {
        func alarm(_ number: Int64, _ offer: String, customer: Bool) -> AlarmsView.Alarm {
            AlarmsView.Alarm(
                number: number, at: days(-Double(20 - number) / 3), app: "com.example.app", environment: "Production",
                productID: "com.example.app.pro", offerID: offer, transactionID: customer ? "2000000100000017" : nil,
                customer: customer ? PageAddress("/customer", ["id": "1"]) : nil)
        }
        let old = AlarmsView.Acknowledgement(
            alarm: alarm(9, "winback", customer: true), at: days(-1), person: "Ada Example",
            note: "Signed by the old server until Tuesday. It now requests signatures here.")
        return AlarmsView(
            frame: frame(PageAddress("/alarms")), now: now,
            open: [alarm(17, "winback", customer: true), alarm(18, "stolen_90off", customer: false)],
            acknowledged: [old],
            refusal: AlarmsView.Refusal(number: 18, note: "  ", problem: "Write the cause in a sentence."))
    }

    static var deliveries: DeliveriesView {
        DeliveriesView(
            frame: frame(PageAddress("/deliveries")), now: now,
            receivers: [
                DeliveriesView.Receiver(
                    name: "https://backend.example:8443",
                    contents: ["events of com.example.app", "notifications of com.example.app"], waiting: 1_204,
                    oldestWaiting: days(-0.2), deadLetters: 2, lastDelivery: days(-0.21), failures: 380),
                DeliveriesView.Receiver(
                    name: "https://old.example", contents: [], waiting: 0, oldestWaiting: nil, deadLetters: 1,
                    lastDelivery: nil, failures: 0),
            ],
            deadLetters: [
                DeliveriesView.DeadLetter(
                    at: days(-2), receiver: "https://backend.example:8443",
                    content: "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
                    id: "002e14d5-51f5-4503-b5a8-c3a1af68eb20", attempts: 34),
                DeliveriesView.DeadLetter(
                    at: days(-1), receiver: "https://backend.example:8443", content: "became_eligible",
                    id: "5f0c1c7e-3d52-8b14-9c3e-0c5d6e7f8a9b", attempts: 35),
            ])
    }

    static var keys: [HealthView.Key] {
        [
            HealthView.Key(
                keyID: "2X9R4HXF34", fingerprint: "9b3f0c6e1d2a4b5c8e7f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5",
                state: "active", since: days(-120), isSinceStart: true, lastSignature: days(-0.002)),
            HealthView.Key(
                keyID: "8K2M5QWE71", fingerprint: "1f0c3a5be2d94786aa1b2c3d4e5f60718293a4b5c6d7e8f90a1b9b3f0c6e1d2a",
                state: "retired", since: days(-30), lastSignature: days(-31)),
            HealthView.Key(
                keyID: "A7B8C9D0E1", fingerprint: "aa1b2c3d4e5f60718293a4b5c6d7e8f90a1b9b3f0c6e1d2a1f0c3a5be2d94786",
                state: "standby", since: nil, lastSignature: nil),
        ]
    }

    static var health: HealthView {
        HealthView(
            frame: frame(PageAddress("/health")), now: now,
            checks: HealthCheck.allCases.map { ($0, $0 == .ledger ? .degraded : $0 == .retention ? .off : .ok) },
            problems: ["the offer stolen_90off was redeemed without a signature of this service (redemption 18)"],
            keys: keys,
            findings: [
                HealthView.Finding(
                    subject: "com.example.app com.example.app.pro winback",
                    sentence:
                        "App Store Connect has no such promotional offer, so the App Store refuses its signatures",
                    hint: "did you mean winback_1m?", isError: true),
                HealthView.Finding(
                    subject: "com.example.app com.example.app.pro",
                    sentence:
                        "the product costs 11.99 USD in App Store Connect, not 9.99 USD",
                    hint: "correct price, or leave it out", isError: false),
            ], catalogueReadAt: days(-0.1))
    }

    static var failedHealth: HealthView {
        HealthView(
            frame: frame(PageAddress("/health")), now: now,
            checks: HealthCheck.allCases.map { ($0, $0 == .keys || $0 == .audit ? .failed : .degraded) }, problems: [],
            keys: [])
    }
}
