import Testing

@testable import AppStoreTestSupport

@Suite("The load of notifications")
struct NotificationPlanTests {
    @Test("plays seats, members, commitments, offers of retention messages and three storefronts")
    func kinds() {
        var plan = NotificationPlan(seed: 1, subscriptions: 120)
        let planned = (0..<6000).map { _ in plan.next() }
        let types = Set(planned.map { "\($0.type) \($0.subtype ?? "")" })
        for type in [
            "DID_CHANGE_RENEWAL_PREF INCREASE_QUANTITY", "DID_CHANGE_RENEWAL_PREF DECREASE_QUANTITY", "REFUND SEATS",
            "UNCLAIM_SEATS ", "REVOKE ", "OFFER_REDEEMED ",
        ] { #expect(types.contains(type), "\(type)") }
        for isWhole in [true, false] {
            #expect(
                planned.contains { planned in
                    let members = planned.transaction.members
                    return planned.subtype == "SEATS" && members.contains { $0.name == "revocationDate" } == isWhole
                        && members.contains { $0.json.contains("revokedSeatQuantity") } != isWhole
                }, "of all seats: \(isWhole)")
        }
        let sold = planned.filter(\.hasPurchase)
        func values(_ name: String) -> Set<String> {
            Set(sold.flatMap { $0.transaction.members + $0.renewalInfo.members }.filter { $0.name == name }.map(\.json))
        }
        #expect(values("inAppOwnershipType") == [#""PURCHASED""#, #""ASSIGNED""#, #""FAMILY_SHARED""#])
        #expect(values("currency") == [#""USD""#, #""EUR""#, #""JPY""#])
        #expect(values("storefront") == [#""USA""#, #""DEU""#, #""JPN""#])
        #expect(values("offerType") == ["5"] && values("additionalTransactionReason") == [#""SEAT_ADDITION""#])
        let commitments = values("commitmentInfo")
        for bill in 1...12 { #expect(commitments.contains { $0.contains(#""billingPeriodNumber":\#(bill),"#) }) }
        for choice in 0...1 {
            #expect(commitments.contains { $0.contains(#""commitmentAutoRenewStatus":\#(choice),"#) })
        }
        // A cancelled commitment is billed until its end.
        #expect(
            sold.contains { planned in
                let members = planned.renewalInfo.members
                return members.contains { $0.name == "autoRenewStatus" && $0.json == "1" }
                    && members.contains { $0.json.contains(#""commitmentAutoRenewStatus":0"#) }
            })
        // The users of seats have a copy of the purchaser's numbers, and no transaction of seats that were added or refunded.
        for planned in sold {
            let members = planned.transaction.members
            let isSeat = members.contains { $0.json == #""ASSIGNED""# }
            if isSeat { #expect(members.contains { $0.name == "multiSeatInfo" }) }
            if !members.contains(where: { $0.json == #""PURCHASED""# }) {
                #expect(!members.contains { $0.name == "additionalTransactionReason" })
                #expect(!members.contains { $0.json.contains("revokedSeatQuantity") })
            }
        }
    }
}
