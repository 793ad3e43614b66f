import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

/// What the App Store says in one of the known traps in its data, and what is to be known of the customer afterwards.
struct TrapScenario: Sendable {
    /// Facts about the only customer of an app.
    struct Known {
        let facts: SubscriberFacts
        let environment: AppStoreEnvironment

        func state(on day: Double) -> SubscriberState {
            SubscriberState(of: facts, environment: environment, at: .day(day))
        }

        /// The only subscription; nil if there are several.
        func subscription(on day: Double) -> Subscription? {
            let subscriptions = state(on: day).subscriptions
            return subscriptions.count == 1 ? subscriptions.first : nil
        }
    }

    let traps: [Int]
    let environment: AppStoreEnvironment
    let notifications: [HistoryNotification]
    /// Whether the certificate that signs has expired since.
    let isLeafExpired: Bool
    /// Changes a payload before it is signed; nil to change none.
    let edit: (@Sendable (String) -> String)?
    let verify: @Sendable (Known) -> Void

    init(
        _ traps: Int..., in environment: AppStoreEnvironment = .production, notifications: [HistoryNotification],
        isLeafExpired: Bool = false, edit: (@Sendable (String) -> String)? = nil,
        verify: @escaping @Sendable (Known) -> Void
    ) {
        self.traps = traps
        self.environment = environment
        self.notifications = notifications.enumerated().map { place, notification in
            HistoryNotification(
                uuid: "\(place)", type: notification.type, subtype: notification.subtype,
                signedDate: notification.signedDate, facts: notification.facts)
        }
        self.isLeafExpired = isLeafExpired
        self.edit = edit
        self.verify = verify
    }

    var app: AppScope {
        get throws {
            let name = "com.example.trap\(traps.map(String.init).joined(separator: "and"))"
            return AppScope(bundleID: try BundleID(utf8: Array(name.utf8)), environment: environment)
        }
    }
}

extension TrapScenario {
    private typealias Make = TestFacts

    static var all: [TrapScenario] {
        get throws { try identity() + order() + renewals() + planChanges() + refunds() + offers() + origins() }
    }

    /// A notification that is signed with the latest of its parts.
    /// - Parameter facts: the transaction comes first. A status has the date of the notification.
    private static func says(
        _ type: String, _ subtype: String? = nil, _ facts: SubscriberFact...
    ) -> HistoryNotification {
        let signedDate = facts.map(\.signedDate).reduce(.day(-1000), max)
        return HistoryNotification(uuid: "", type: type, subtype: subtype, signedDate: signedDate, facts: facts)
    }

    private static func refunded(
        _ id: String, of original: String = "1", _ start: Double, _ end: Double, at: Double, signed: Double? = nil,
        _ change: (inout Purchase) -> Void = { _ in }
    ) throws -> SubscriberFact {
        try Make.transaction(id, of: original, start, end, signed: signed ?? at) {
            $0.revocation = Revocation(date: .day(at), reason: .appIssue)
            change(&$0)
        }
    }

    private static func offer(_ identifier: String?, _ type: OfferType = .promotional) -> AppliedOffer {
        AppliedOffer(type: type, identifier: identifier, discountType: .payAsYouGo)
    }

    private static func identity() throws -> [TrapScenario] {
        func bought(_ id: String, _ start: Double, by account: UInt64?) throws -> HistoryNotification {
            says(
                id == "1" ? "SUBSCRIBED" : "DID_RENEW", nil,
                try Make.transaction(id, start, start + 30) { $0.appAccountToken = account.map(UUIDText.account) })
        }
        return [
            TrapScenario(
                3,
                notifications: [
                    says("SUBSCRIBED", "INITIAL_BUY", try Make.transaction("1", 0, 30)),
                    says("SUBSCRIBED", "RESUBSCRIBE", try Make.transaction("3", 100, 130) { $0.reason = .purchase }),
                    says("DID_RENEW", nil, try Make.transaction("4", 130, 160)),
                ]
            ) { known in
                #expect(known.subscription(on: 131)?.subscribedSince == .day(100))
                #expect(known.subscription(on: 131)?.renewals == 1)
            },
            TrapScenario(
                4,
                notifications: [
                    says("SUBSCRIBED", nil, try Make.transaction("1", 0, 30)),
                    says("DID_RENEW", nil, try Make.transaction("2", 30, 60) { $0.webOrderLineItemID = "w" }),
                    says("DID_RENEW", nil, try Make.transaction("9", 31, 60) { $0.webOrderLineItemID = "w" }),
                ]
            ) { known in #expect(known.subscription(on: 41)?.renewals == 1) },
            TrapScenario(
                6,
                notifications: [
                    says("SUBSCRIBED", nil, try Make.transaction("1", 0, 30), try Make.renewal(signed: 1)),
                    says(
                        "SUBSCRIBED", nil,
                        try Make.transaction("9", of: "9", 0, 30) { $0.subscriptionGroupID = "h" },
                        try Make.renewal(of: "9", signed: 1, .off)),
                ]
            ) { known in #expect(known.state(on: 2).subscriptions.map(\.autoRenews) == [true, false]) },
            TrapScenario(
                7, 8,
                notifications: [
                    try bought("1", 0, by: nil), try bought("2", 30, by: 3), try bought("3", 60, by: 1),
                    try bought("4", 90, by: nil), try bought("5", 120, by: 2),
                ]
            ) { known in
                let owners = OwnershipPolicy.allCases.map {
                    ($0, SubscriptionOwners(of: Array(known.facts), by: $0).accounts)
                }
                for (policy, accounts) in owners {
                    switch policy {
                    case .first: #expect(accounts == [.account(3)])
                    case .transfer: #expect(accounts == [.account(2)])
                    case .share: #expect(accounts == [.account(3), .account(1), .account(2)])
                    }
                }
            },
        ]
    }

    private static func order() throws -> [TrapScenario] {
        let active = try Make.transaction("1", 0, 30)
        return [
            TrapScenario(
                2,
                notifications: [
                    says("SUBSCRIBED", nil, active),
                    says("DID_RENEW", nil, try Make.transaction("3", 60, 90)),
                    says("DID_RENEW", nil, try Make.transaction("2", 30, 60, signed: 80)),
                ]
            ) { known in
                #expect(known.subscription(on: 81)?.transactionID.text.description == "3")
                #expect(known.subscription(on: 81)?.renewals == 2)
            },
            TrapScenario(
                10,
                notifications: [
                    says("SUBSCRIBED", nil, active, try Make.renewal(signed: 0), try Make.status(.active, signed: 0)),
                    says(
                        "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", active,
                        try Make.renewal(signed: 6, .off), try Make.status(.active, signed: 6)),
                ]
            ) { known in #expect(known.subscription(on: 6)?.autoRenews == false) },
            TrapScenario(
                11,
                notifications: [
                    says("DID_RENEW", nil, try Make.transaction("2", 30, 60), try Make.renewal(signed: 40, .off)),
                    says("REFUND", nil, try refunded("1", 0, 30, at: 35), try Make.renewal(signed: 35)),
                ]
            ) { known in
                #expect(known.state(on: 41).refunds.map(\.at) == [.day(35)])
                #expect(known.state(on: 41)["1"]?.status == .active)
                #expect(known.state(on: 41)["1"]?.autoRenews == false)
            },
            TrapScenario(
                12,
                notifications: try (0..<6).map { place in
                    let start = Double(place) * 30
                    return says(
                        place == 0 ? "SUBSCRIBED" : "DID_RENEW", nil,
                        try Make.transaction("\(place + 1)", start, start + 30),
                        try Make.renewal(signed: start, place == 5 ? .off : .on))
                }
            ) { known in
                #expect(known.facts.count == 7)
                #expect(known.subscription(on: 151)?.autoRenews == false)
            },
            // Which renewal info wins is the same on every engine: the test compares all scenarios with a reference.
            TrapScenario(
                16,
                notifications: [
                    says("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", active, try Make.renewal(signed: 1)),
                    says("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", active, try Make.renewal(signed: 1, .off)),
                ]
            ) { known in #expect(known.facts.count == 4) },
        ]
    }

    private static func renewals() throws -> [TrapScenario] {
        let subscribed = says("SUBSCRIBED", "INITIAL_BUY", try Make.transaction("1", 0, 30))
        let last = try Make.transaction("2", 30, 60)
        let renewed = says("DID_RENEW", nil, last)
        let hour = 1.0 / 24
        func failing(signed: Double, graceUntil end: Double? = nil) throws -> SubscriberFact {
            try Make.renewal(signed: signed) {
                $0.isInBillingRetryPeriod = true
                $0.gracePeriodExpiresDate = end.map { .day($0) }
            }
        }
        let inGrace = says(
            "DID_FAIL_TO_RENEW", "GRACE_PERIOD", last, try failing(signed: 60, graceUntil: 76),
            try Make.status(.billingGracePeriod, signed: 60))
        return [
            TrapScenario(
                15, notifications: [subscribed, says("DID_RENEW", nil, last, try Make.renewal(signed: 31))]
            ) { known in
                #expect(known.subscription(on: 60)?.settled == false)
                #expect(known.subscription(on: 67)?.settled == true)
            },
            TrapScenario(
                18,
                notifications: [
                    subscribed,
                    says(
                        "DID_RENEW", nil, try Make.transaction("2", 30, 60, signed: 29.9996),
                        try Make.renewal(signed: 29.9996) { $0.renewalDate = .day(60) }),
                ]
            ) { known in
                #expect(known.subscription(on: 29.9999)?.transactionID.text.description == "1")
                #expect(known.subscription(on: 30)?.transactionID.text.description == "2")
            },
            TrapScenario(19, notifications: [subscribed, renewed, inGrace]) { known in
                #expect(known.subscription(on: 70)?.status == .billingGracePeriod)
                #expect(known.subscription(on: 76)?.status == .billingRetry)
            },
            TrapScenario(
                20, notifications: [subscribed, renewed, says("DID_FAIL_TO_RENEW", nil, last, try failing(signed: 60))]
            ) { known in #expect(known.subscription(on: 60)?.status == .billingRetry) },
            TrapScenario(
                21,
                notifications: [
                    subscribed, renewed,
                    says(
                        "EXPIRED", "VOLUNTARY", last,
                        try Make.renewal(signed: 60) { $0.isInBillingRetryPeriod = false }),
                ]
            ) { known in
                #expect(known.subscription(on: 61)?.status == .expired)
                #expect(known.subscription(on: 61)?.endedBecause == .cancelled)
            },
            TrapScenario(
                22,
                notifications: [
                    subscribed, renewed, inGrace,
                    says(
                        "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", last,
                        try Make.renewal(signed: 65, .off) { $0.gracePeriodExpiresDate = .day(76) }),
                ]
            ) { known in #expect(known.subscription(on: 66)?.endedBecause == .cancelled) },
            TrapScenario(
                23, in: .sandbox,
                notifications: [
                    says("SUBSCRIBED", nil, try Make.transaction("1", 0, hour)),
                    says(
                        "DID_FAIL_TO_RENEW", nil, try Make.transaction("1", 0, hour), try failing(signed: hour)),
                ]
            ) { known in
                #expect(known.subscription(on: 3 * hour)?.status == .billingRetry)
                #expect(known.subscription(on: 3 * hour + 0.0001)?.endedBecause == .billing)
            },
        ]
    }

    private static func planChanges() throws -> [TrapScenario] {
        let monthly = try Make.transaction("1", 0, 30)
        func upgrade(_ start: Double, _ end: Double) throws -> HistoryNotification {
            says("DID_CHANGE_RENEWAL_PREF", "UPGRADE", try Make.transaction("2", start, end) { $0.reason = .purchase })
        }
        func preferring(_ product: String, signed: Double) throws -> SubscriberFact {
            try Make.renewal(signed: signed) { $0.autoRenewProductID = try ProductID(product) }
        }
        return [
            TrapScenario(
                24, notifications: [says("SUBSCRIBED", nil, try Make.transaction("1", 0, 365)), try upgrade(10, 17)]
            ) { known in
                #expect(known.subscription(on: 11)?.expiresAt == .day(17))
                #expect(known.subscription(on: 18)?.status == .expired)
            },
            TrapScenario(
                25,
                notifications: [
                    says(
                        "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", monthly, try Make.renewal(signed: 5, .off)),
                    says("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", monthly, try preferring("weekly", signed: 6)),
                ]
            ) { known in #expect(known.subscription(on: 7)?.autoRenews == true) },
            TrapScenario(
                26,
                notifications: [
                    says("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", monthly, try preferring("weekly", signed: 6)),
                    says("DID_CHANGE_RENEWAL_PREF", nil, monthly, try preferring("monthly", signed: 8)),
                ]
            ) { known in
                #expect(known.subscription(on: 9)?.productID.text.description == "monthly")
                #expect(known.subscription(on: 9)?.autoRenewProductID?.text.description == "monthly")
            },
            TrapScenario(
                27,
                notifications: [
                    says("SUBSCRIBED", nil, monthly), try upgrade(10, 40),
                    says("DID_RENEW", nil, try Make.transaction("3", 40, 405, signed: 20)),
                ]
            ) { known in
                #expect(known.subscription(on: 11)?.transactionID.text.description == "2")
                #expect(known.subscription(on: 39)?.transactionID.text.description == "2")
                #expect(known.subscription(on: 41)?.transactionID.text.description == "3")
            },
        ]
    }

    private static func refunds() throws -> [TrapScenario] {
        let bought = says("SUBSCRIBED", nil, try Make.transaction("1", 0, 30))
        let year = try Make.transaction("1", 0, 365)
        return [
            TrapScenario(
                1,
                notifications: [
                    says("DID_RENEW", nil, try Make.transaction("7", 30, 60)),
                    says("REFUND", nil, try refunded("6", 0, 30, at: 35), try Make.status(.active, signed: 35)),
                ]
            ) { known in
                #expect(known.subscription(on: 36)?.status == .active)
                #expect(known.subscription(on: 36)?.refunds.map(\.transactionID.text.description) == ["6"])
            },
            TrapScenario(5, notifications: [bought, says("REFUND", nil, try refunded("1", 0, 30, at: 5))]) { known in
                #expect(known.subscription(on: 6)?.status == .revoked)
                #expect(known.subscription(on: 6)?.endedBecause == .refunded)
            },
            TrapScenario(
                28,
                notifications: [
                    says("REFUND", nil, try refunded("1", 0, 30, at: 5), try Make.status(.revoked, signed: 5)),
                    says("REFUND_REVERSED", nil, try Make.transaction("1", 0, 30, signed: 7)),
                ]
            ) { known in
                #expect(known.subscription(on: 8)?.status == .active)
                #expect(known.subscription(on: 8)?.refunds == [])
            },
            TrapScenario(
                29,
                notifications: [
                    says("REFUND", nil, try refunded("1", 0, 30, at: 5, signed: 7)),
                    says("REFUND", nil, try refunded("1", 0, 30, at: 6, signed: 9)),
                ]
            ) { known in #expect(known.subscription(on: 10)?.endedAt == .day(6)) },
            TrapScenario(
                30,
                notifications: [
                    says("CONSUMPTION_REQUEST", nil, year, try Make.refundRequest(.open, "1", signed: 5)),
                    says("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", year, try Make.renewal(signed: 5, .off)),
                ]
            ) { known in
                #expect(known.subscription(on: 64)?.refundPending == true)
                #expect(known.subscription(on: 65)?.refundPending == false)
            },
            TrapScenario(
                31,
                notifications: [
                    says(
                        "REFUND", nil,
                        try refunded("1", 0, 30, at: 5) {
                            $0.revocation?.type = .proratedRefund
                            $0.revocation?.percentage = 40_000
                        })
                ]
            ) { known in #expect(known.subscription(on: 6)?.refunds.first?.percentage == 40_000) },
            TrapScenario(
                32, 39,
                notifications: [
                    bought,
                    says("REVOKE", nil, try refunded("5", of: "5", 0, 30, at: 5) { $0.ownership = .familyShared }),
                ]
            ) { known in
                #expect(known.state(on: 6)["1"]?.status == .active)
                #expect(known.state(on: 6)["5"]?.status == .revoked)
                #expect(known.state(on: 6).refunds.isEmpty)
            },
        ]
    }

    private static func offers() throws -> [TrapScenario] {
        let month = try Make.transaction("1", 0, 30)
        return [
            TrapScenario(
                33,
                notifications: [
                    says(
                        "PRICE_INCREASE", "PENDING", month,
                        try Make.renewal(signed: 1, .off) { $0.priceIncreaseStatus = PriceIncreaseStatus(rawValue: 0) }),
                    says(
                        "PRICE_INCREASE", "ACCEPTED", month,
                        try Make.renewal(signed: 2, .off) { $0.priceIncreaseStatus = .accepted }),
                ]
            ) { known in
                #expect(known.subscription(on: 3)?.priceIncrease == .accepted)
                #expect(known.subscription(on: 3)?.autoRenews == false)
            },
            TrapScenario(
                34,
                notifications: [
                    says(
                        "SUBSCRIBED", "INITIAL_BUY",
                        try Make.transaction("1", 0, 7) {
                            $0.offer = AppliedOffer(type: .introductory, discountType: .freeTrial)
                        }, try Make.renewal(signed: 1) { $0.offer = offer("next") })
                ]
            ) { known in
                #expect(known.subscription(on: 2)?.lastPeriod == .trial)
                #expect(known.subscription(on: 2)?.pendingOffer?.identifier == "next")
            },
            TrapScenario(
                35, 36,
                notifications: [
                    says("OFFER_REDEEMED", nil, month, try Make.renewal(signed: 10) { $0.offer = offer("save") }),
                    says("DID_RENEW", nil, try Make.transaction("2", 30, 60) { $0.offer = offer("save") }),
                ]
            ) { known in #expect(known.state(on: 31).redemptions.map(\.offerID) == ["save"]) },
            TrapScenario(
                37,
                notifications: [
                    says("SUBSCRIBED", nil, try Make.transaction("1", 0, 30) { $0.offer = offer("CODE", .offerCode) }),
                    says("DID_RENEW", nil, try Make.transaction("2", 30, 60)),
                ]
            ) { known in
                #expect(known.subscription(on: 31)?.lastPeriod == .regular)
                #expect(known.state(on: 31).redemptions.map(\.type) == [.offerCode])
            },
            TrapScenario(
                38,
                notifications: [
                    says(
                        "OFFER_REDEEMED", nil, month, try Make.renewal(signed: 3) { $0.offer = offer("r", .retention) })
                ]
            ) { known in #expect(known.state(on: 4).redemptions.map(\.type.rawValue) == [5]) },
            TrapScenario(
                40,
                notifications: [
                    says(
                        "SUBSCRIBED", nil,
                        try Make.transaction("5", of: "5", 0, 30) { $0.ownership = .familyShared }),
                    says(
                        "DID_RENEW", nil,
                        try Make.transaction("6", of: "5", 30, 60) { $0.ownership = .familyShared }),
                ]
            ) { known in
                #expect(known.state(on: 31)["5"]?.status == .active)
                #expect(known.state(on: 31).everSubscribed != true)
            },
        ]
    }

    /// Notifications whose form is the trap.
    private static func origins() throws -> [TrapScenario] {
        let bought = try Make.transaction("1", 0, 30)
        return [
            TrapScenario(
                9, in: .sandbox, notifications: [says("SUBSCRIBED", nil, bought)],
                edit: { $0.replacing(#/"appAppleId":\d+,/#, with: "") }
            ) { known in #expect(known.subscription(on: 1)?.status == .active) },
            TrapScenario(41, notifications: [says("SUBSCRIBED", nil, bought)], isLeafExpired: true) { known in
                #expect(known.subscription(on: 1)?.status == .active)
            },
            TrapScenario(
                43, notifications: [says("A_TYPE_OF_TOMORROW", "ITS_SUBTYPE", bought, try Make.renewal(signed: 0))]
            ) { known in #expect(known.subscription(on: 1)?.autoRenews == true) },
            // A notification of our app is stored, but nothing in it is believed.
            TrapScenario(
                44, notifications: [says("SUBSCRIBED", nil, bought, try Make.renewal(signed: 0))],
                edit: { text in
                    text.replacing("signedTransactionInfo", with: "*").replacing(
                        "signedRenewalInfo", with: "signedTransactionInfo"
                    ).replacing("*", with: "signedRenewalInfo")
                }
            ) { known in #expect(known.facts.isEmpty) },
        ]
    }
}
