import Foundation
import Testing

@testable import AppStoreTestSupport

@Suite("The generated customers")
struct WorldTests {
    @Test("live through seats, commitments, several storefronts and every type of offer")
    func kinds() throws {
        let customers = (0..<600).map {
            WorldCustomer(number: $0, seed: 1, start: 0, clock: WorldClock(), isSandbox: false)
        }
        var (events, lives) = ([WorldEvent](), [WorldCustomer]())
        for var customer in customers {
            events += customer.live(until: WorldClock().days(600))
            lives.append(customer)
        }
        let types = Set(events.map { "\($0.type) \($0.subtype ?? "")" })
        for type in [
            "DID_CHANGE_RENEWAL_PREF INCREASE_QUANTITY", "DID_CHANGE_RENEWAL_PREF DECREASE_QUANTITY", "REFUND SEATS",
            "UNCLAIM_SEATS ", "REVOKE ",
        ] { #expect(types.contains(type), "\(type)") }
        let refunds = events.filter { $0.subtype == "SEATS" }.map(\.transaction)
        #expect(refunds.contains { $0.revocationDate == nil && $0.revokedSeats > 0 && $0.revokedSeats < $0.seats })
        #expect(refunds.contains { $0.revocationDate != nil })
        #expect(Set(events.map(\.ownership)) == ["PURCHASED", "ASSIGNED", "FAMILY_SHARED"])
        for ownership in ["ASSIGNED", "FAMILY_SHARED"] {
            #expect(events.contains { $0.ownership == ownership && $0.transaction.offer == .promotional })
        }
        #expect(Set(events.map(\.subscription.storefront.currency)) == ["USD", "EUR", "JPY"])
        let transactions = lives.flatMap(\.history)
        #expect(Set(transactions.compactMap(\.offer?.type)) == [1, 2, 4, 5])
        #expect(Set(transactions.map(\.id)).count == transactions.count)
        #expect(transactions.contains { $0.commitment?.isLast == true })
        // A customer who cancels pays the bills that are left.
        let cancelled = events.filter {
            $0.subscription.isBound && !$0.subscription.autoRenews && $0.type == "DID_RENEW"
        }
        #expect(!cancelled.isEmpty)
        for event in cancelled {
            #expect(event.subscription.commitmentMembers.last?.1.contains(#"AutoRenewStatus":0"#) == true)
        }
        try Self.checkUnclaims(events.filter { $0.type == "UNCLAIM_SEATS" })
        // Only the purchaser pays for seats.
        #expect(lives.allSatisfy { $0.ownership == "PURCHASED" || $0.subscriptions.allSatisfy(\.addedSeats.isEmpty) })
    }

    /// The content names seats, and the app in about half of the notifications.
    private static func checkUnclaims(_ events: [WorldEvent]) throws {
        let signer = WorldSigner(
            chain: try TestChain(), bundleID: "com.example.app", appAppleID: 1, environment: "Production")
        let payloads = try events.map { event in
            let part = try signer.notification(event, uuid: "u").split(separator: ".")[1]
            let base64 = part.replacing("-", with: "+").replacing("_", with: "/")
            let data = try #require(
                Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)))
            let payload = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(payload["data"] == nil)
            return try #require(payload["unclaimInfo"] as? [String: Any])
        }
        #expect(payloads.allSatisfy { ($0["unclaimSeatIds"] as? [String])?.count == 2 })
        let named = payloads.count { $0["bundleId"] as? String == "com.example.app" }
        #expect(named > 0 && payloads.contains { $0.count == 1 })
    }
}
