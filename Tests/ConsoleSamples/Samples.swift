package import OfferConsole
import OfferCore

/// Made-up data for every page and state.
package enum Samples {
    static let now = Timestamp(milliseconds: 1_795_769_220_000)
    static let clock = ConsoleClock(offsetMinutes: 60) ?? .utc
    static let everyone = ConsolePerson(name: "Ada Example", roles: ConsoleRole.allCases)
    static let support = ConsolePerson(name: "Sam Support", roles: [.support])

    static func days(_ days: Double) -> Timestamp {
        Timestamp(milliseconds: now.milliseconds + Int64(days * 86_400_000))
    }

    static func frame(_ address: PageAddress?, _ person: ConsolePerson? = everyone) -> PageFrame {
        PageFrame(person: person, clock: clock, version: "1.9.0", address: address)
    }

    static let signedOut = frame(nil, nil)

    package static var pages: [(name: String, html: HTML)] {
        states + found + rules + reports + lists + [
            ("customer", customer().html),
            ("customer-what-if", customer(WhatIf(autoRenew: .off, factName: "careTicket", factValue: "T-1204")).html),
            ("customer-unknown", unknownCustomer.html), ("customer-hostile", hostileCustomer.html),
            ("offers", offers().html), ("offers-one", offers(selected: 0).html),
            ("offers-unused", OffersView(frame: frame(PageAddress("/offers")), offers: catalogue, days: []).html),
            ("offers-empty", OffersView(frame: frame(PageAddress("/offers")), offers: [], days: []).html),
            ("alarms", alarms.html),
            (
                "alarms-none",
                AlarmsView(frame: frame(PageAddress("/alarms")), now: now, open: [], acknowledged: []).html
            ),
            ("deliveries", deliveries.html),
            (
                "deliveries-none",
                DeliveriesView(frame: frame(PageAddress("/deliveries")), now: now, receivers: [], deadLetters: []).html
            ),
            ("health", health.html), ("health-failed", failedHealth.html), ("audit", audit.html),
            ("audit-own", ownAudit.html),
        ]
    }

    private static var states: [(String, HTML)] {
        let provider = SignInView.Provider(name: "Example Accounts", start: PageAddress("/sign-in/start"))
        return [
            ("sign-in", SignInView(frame: signedOut).html),
            ("sign-in-provider", SignInView(frame: signedOut, reason: .expired, provider: provider).html),
            ("sign-in-refused", SignInView(frame: signedOut, reason: .refusedByProvider, provider: provider).html),
            ("sign-in-bad-link", SignInView(frame: signedOut, reason: .badLink).html),
            ("signed-out", SignInView(frame: signedOut, reason: .signedOut).html),
            ("sign-in-ended", SignInView(frame: signedOut, reason: .ended).html),
            ("sign-in-link", SignInLinkView(frame: signedOut, token: "abc", name: "Ada").html),
            ("error-400", ErrorView(frame: frame(nil), .badRequest("The field “note” is too long.")).html),
            ("error-403", ErrorView(frame: frame(nil, support), .forbidden([.operator, .auditor])).html),
            ("error-origin", ErrorView(frame: frame(nil), .otherOrigin).html),
            ("error-404", ErrorView(frame: frame(nil), .notFound).html),
            ("error-429", ErrorView(frame: signedOut, .tooManyRequests(retryAfterSeconds: 12)).html),
            ("error-500", ErrorView(frame: frame(nil), .failed(requestID: "1f0c3a5be2d94786")).html),
            ("error-503", ErrorView(frame: frame(nil), .unavailable(requestID: "1f0c3a5be2d94786")).html),
        ]
    }

    private static var found: [(String, HTML)] {
        let apps = ["com.example.app", "com.example.kids"]
        let customers = [
            FoundCustomer(
                identifier: "d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10", app: "com.example.app", environment: "Production",
                summary: "active until 2026-12-27", address: PageAddress("/customer", ["id": "1"])),
            FoundCustomer(
                identifier: "7041234567890100000001", app: "com.example.app", environment: "Sandbox",
                summary: "expired on 2026-10-02", address: PageAddress("/customer", ["id": "2"])),
        ]
        let missing = FindView.Result.notFound(
            tried: ["as an order ID at the App Store", "as a username of com.example.app", "as a transaction ID"],
            hints: [
                "Order IDs can be looked up only in production. Ask for the receipt that Apple mailed.",
                "A username counts only if a purchase is linked to it.",
                "The customer may have bought in another app.",
            ])
        func page(_ query: String, _ result: FindView.Result?, _ person: ConsolePerson = everyone) -> HTML {
            FindView(
                frame: frame(PageAddress("/find", ["q": query]), person), query: query, apps: apps, app: apps[0],
                result: result
            ).html
        }
        return [
            ("find", FindView(frame: frame(PageAddress("/find"), support), apps: ["com.example.app"]).html),
            ("find-missing", page("MK5TTTVWJH", missing)), ("find-several", page("sam", .several(customers))),
            ("find-unavailable", page("MK5TTTVWJH", .unavailable("The App Store does not answer."))),
        ]
    }

    static var audit: AuditView {
        let acts = ["console_sign_in", "console_customer", "console_grant", "customer_grant_withdrawn"]
        let lines = (0..<14).map { (place: Int) -> AuditView.Line in
            let isGrant = place % 4 > 1
            let grant = "stay for com.example.app.pro, reason outage, grant 4f5b1c9e-27a8-4c35-9d0e-0b6f3a8d72c1"
            return AuditView.Line(
                number: Int64(20_417 - place), at: days(-Double(place) / 7),
                person: ["Ada Example", "Sam Support (00u1a2b3c4)", "Sam Support", "crm, with the API"][place % 4],
                act: acts[place % 4],
                subject: place % 4 == 0 ? "–" : "customer 262cb1d04a7e… (com.example.app, Production)",
                details: isGrant ? grant + (place % 4 == 3 ? ", made by Sam Support" : "") : nil,
                refusal: place == 6 ? "grant_exists" : nil)
        }
        return AuditView(
            frame: frame(PageAddress("/audit")), lines: lines,
            filter: AuditView.Filter(person: "a", from: "2026-11-20"),
            acts: acts, showsEveryone: true, newer: PageAddress("/audit", ["before": "1"]),
            older: PageAddress("/audit", ["before": "2"]))
    }

    static var ownAudit: AuditView {
        AuditView(
            frame: frame(PageAddress("/audit"), support), lines: [], acts: ["signed in"], showsEveryone: false)
    }
}
