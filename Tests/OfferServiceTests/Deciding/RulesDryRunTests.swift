import Foundation
import OfferEligibility
import OfferService
import StoreTestSupport
import SubscriberStore
import Testing

@Suite("Rules on trial")
struct RulesDryRunTests {
    private static func trial(
        _ service: StoreService, _ inForce: String, _ new: String, workers: Int = 2
    ) async throws -> RulesDryRun {
        func catalogue(_ offers: String) throws -> Catalogue { try StoreService(offers).catalogue }
        return try await RulesDryRunner(
            inForce: catalogue(inForce), new: catalogue(new), at: Sample.day(10), sampleSize: 2, workers: workers
        ).run(over: service.store) { _ in }
    }

    @Test("it shows who would get what, why not, and for whom the answer changes")
    func changes() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        try await service.addSubscriber("1000", account: 1, autoRenew: false)
        try await service.addSubscriber("2000", account: 2, autoRenew: true)
        try await service.addSubscriber("3000", account: nil, autoRenew: true)
        // A second subscription of account 2: still one customer.
        try await service.addSubscriber("2500", account: 2, autoRenew: true) { $0.subscriptionGroupID = "2" }
        try await service.addSubscriber("9000", account: 9, autoRenew: true, in: Sample.sandbox)
        let trial = try await Self.trial(
            service, "{offerID: keep, rule: retention}",
            "{offerID: keep, rule: {subscription: {status: active, autoRenew: on}}}, {offerID: new, rule: loyalty}")
        #expect(trial.customers == 4)
        let gainedSample = "appAccountToken \(Sample.token(2)), originalTransactionID 3000"
        let csv = """
            bundleID,environment,productID,offerID,ruleInForce,newRule,reason,inForce,new,gained,lost,gainedSample,lostSample
            com.example.app,Production,monthly,keep,retention,,eligible,1,2,2,1,"\(gainedSample)",appAccountToken \(Sample.token(1))
            com.example.app,Production,monthly,keep,retention,,auto_renew,2,1,,,,
            com.example.app,Production,monthly,new,,loyalty,eligible,0,0,0,0,,
            com.example.app,Production,monthly,new,,loyalty,renewals,0,3,,,,
            com.example.app,Sandbox,monthly,keep,retention,,eligible,0,1,1,0,appAccountToken \(Sample.token(9)),
            com.example.app,Sandbox,monthly,keep,retention,,auto_renew,1,0,,,,
            com.example.app,Sandbox,monthly,new,,loyalty,eligible,0,0,0,0,,
            com.example.app,Sandbox,monthly,new,,loyalty,renewals,0,1,,,,

            """
        #expect(trial.csv.replacing("\r\n", with: "\n") == csv)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(trial.json)) as? [String: Any])
        let keep = try #require((json["offers"] as? [[String: Any]])?.first)
        let gained = try #require(keep["gained"] as? [String: Any])
        #expect(gained["count"] as? Int == 2)
        let names = (gained["sample"] as? [[String: String]] ?? []).compactMap(\.values.first).sorted()
        #expect(names == ["\(Sample.token(2))", "3000"].sorted())
        #expect((keep["lost"] as? [String: Any])?["count"] as? Int == 1)
        #expect(
            trial.text.hasPrefix("4 customers with purchases (those known only from your team's facts are not counted)")
        )
        #expect(trial.text.contains("  in force: 1 eligible by the rule retention; refused for auto_renew 2\n"))
        #expect(trial.text.contains("  1 would no longer get it, such as appAccountToken \(Sample.token(1))\n"))
    }

    @Test("the same rule is decided anew where the new file gives its products other ranks")
    func ranks() async throws {
        let rule = "{offerID: top, rule: {subscription: {rank: highest}}}"
        let service = try StoreService(rule)
        try await service.addSubscriber("1000", account: 1, autoRenew: true)
        let other = try StoreService(
            yaml: """
                apps:
                  - bundleID: com.example.app
                    appAppleID: 1234567890
                    products:
                      - {productID: basic, subscriptionGroupID: "21012345", rank: 3, offers: []}
                      - {productID: monthly, subscriptionGroupID: "21012345", rank: 2, offers: [\(rule)]}
                """)
        let trial = try await RulesDryRunner(
            inForce: service.catalogue, new: other.catalogue, at: Sample.day(10), sampleSize: 2, workers: 1
        ).run(over: service.store) { _ in }
        let outcome = try #require(trial.outcomes.values.first)
        #expect(trial.outcomes.count == 1 && outcome.lost.count == 1 && outcome.gained.count == 0)
        #expect(outcome.inForce == [nil: 1] && outcome.new == [.rank: 1])
    }

    @Test("a new ownership policy moves the offer of a subscription from one account to the other")
    func ownership() async throws {
        let rule = "{offerID: keep, rule: {subscription: {status: active}}}"
        let service = try StoreService(rule)
        try await service.addSubscriber("1000", account: 1, autoRenew: true)
        let renewed = Sample.transaction("1001", of: "1000", 5, 35) { $0.appAccountToken = Sample.token(2) }
        let renewal = Sample.renewal(of: "1000", signed: 6) { $0.appAccountToken = Sample.token(2) }
        try await service.store.merge([renewed, renewal], in: Sample.production)
        func catalogue(_ ownership: String) throws -> Catalogue {
            try StoreService(
                yaml: """
                    apps:
                      - bundleID: com.example.app
                        appAppleID: 1234567890
                        ownership: \(ownership)
                        products: [{productID: monthly, subscriptionGroupID: "21012345", offers: [\(rule)]}]
                    """
            ).catalogue
        }
        let trial = try await RulesDryRunner(
            inForce: catalogue("first"), new: catalogue("transfer"), at: Sample.day(10), sampleSize: 2, workers: 1
        ).run(over: service.store) { _ in }
        let outcome = try #require(trial.outcomes.values.first)
        #expect(trial.customers == 2)
        #expect(outcome.lost.sample == [.appAccountToken(Sample.token(1))])
        #expect(outcome.gained.sample == [.appAccountToken(Sample.token(2))])
    }

    @Test("the number of workers changes nothing, and the trial decides as the service does")
    func agrees() async throws {
        let offers =
            "{offerID: keep, rule: retention}, {offerID: back, rule: win_back}, {offerID: loyal, rule: loyalty}"
        let service = try StoreService(offers)
        for number in 1...60 {
            try await service.addSubscriber("\(1000 + number)", account: UInt64(number), autoRenew: number % 3 == 0)
        }
        let one = try await Self.trial(service, offers, offers, workers: 1)
        let two = try await Self.trial(service, offers, offers, workers: 2)
        #expect(one.csv == two.csv && one.customers == 60)
        var eligible = 0
        for number in 1...60 {
            let decision = try await service.decide(StoreService.token(UInt64(number)) + #","sign":false"#)
            eligible += decision.eligible.count
        }
        let counted = one.outcomes.values.reduce(0) { $0 + ($1.new[nil] ?? 0) }
        #expect(counted == eligible && eligible == 40)
    }
}
