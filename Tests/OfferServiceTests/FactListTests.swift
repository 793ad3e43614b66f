import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("Facts about many customers at once")
struct FactListTests {
    private static func customer(_ number: UInt64, _ facts: String) -> String {
        #"{\#(StoreService.token(number)),"facts":{\#(facts)}}"#
    }

    private static func members(_ customers: [String], _ more: String = #","environment":"Production""#) -> String {
        #""customers":[\#(customers.joined(separator: ","))]\#(more)"#
    }

    @Test("each customer gets the facts, and null removes one, in one change with a line for each in the audit trail")
    func list() async throws {
        let folder = try TemporaryFolder()
        let service = try StoreService.customers(trail: try await StoreService.trail(in: folder))
        let first = (1...200).map { Self.customer(UInt64($0), #""churn":0.\#($0),"old":true"#) }
        #expect(await service.setFacts(Self.members(first)).status == 204)
        let commits = service.store.counts.commits
        let second = (1...200).map { Self.customer(UInt64($0), #""churn":\#($0),"old":null"#) }
        #expect(await service.setFacts(Self.members(second)).status == 204)
        #expect(service.store.counts.commits == commits + 1)
        for number in [1, 100, 200] as [UInt64] {
            let known = await service.lookUp(StoreService.token(number))
            #expect(known.first?["facts"] as? [String: Int] == ["churn": Int(number)])
        }
        #expect(service.routes.scrape().sum(of: "offer_signer_fact_statements_total") == 400)
        let trail = try String(contentsOfFile: folder.path + "/audit.jsonl", encoding: .utf8)
        #expect(trail.components(separatedBy: "customer_facts").count == 401)
    }

    @Test("facts that the app tracks are kept with their dates, alone or in a list")
    func tracked() async throws {
        let service = try StoreService("plain", app: "appAppleID: 1234567890\n    track: [churn]")
        func set(_ members: String, at day: Double) async {
            service.routes.setTime(Sample.day(day))
            #expect(await service.setFacts(members).status == 204)
        }
        await set(#"\#(StoreService.token(1)),"environment":"Production","facts":{"churn":1,"old":2}"#, at: 11)
        await set(Self.members([Self.customer(1, #""churn":2"#), Self.customer(2, #""churn":3"#)]), at: 12)
        let tracked = NIOLockedValueBox<Set<TrackedFact>>([])
        try await service.store.forEachRecord { record in
            if case .trackedFact(_, let fact) = record { tracked.withLockedValue { _ = $0.insert(fact) } }
        }
        func fact(_ number: UInt64, _ value: String, _ day: Double) -> TrackedFact {
            TrackedFact(
                identifier: Sample.account(number), name: Sample.text("churn"), value: .number(Array(value.utf8)),
                at: Sample.day(day))
        }
        #expect(tracked.withLockedValue { $0 } == [fact(1, "1", 11), fact(1, "2", 12), fact(2, "3", 12)])
    }

    @Test("one wrong customer refuses the whole list, and the answer names it")
    func refused() async throws {
        let service = try StoreService.customers()
        let good = Self.customer(1, #""a":1"#)
        for (customers, more, status, field) in [
            ([good, #"{"transactionID":"1"}"#], #","environment":"Sandbox""#, 400, "customers[1].facts"),
            (
                [good, #"{"transactionID":"1","facts":{"a":[]}}"#], #","environment":"Sandbox""#, 400,
                "customers[1].facts.a"
            ),
            ([good, #"{"facts":{"a":1}}"#], #","environment":"Sandbox""#, 400, "appAccountToken"),
            ([good, #"{"bundleID":"b","transactionID":"1","facts":{"a":1}}"#], "", 400, "customers[1].bundleID"),
            ([good, "1"], "", 400, "customers[1]"), ([], "", 400, "customers"),
            (Array(repeating: good, count: 201), "", 400, "customers"),
            ([good], #","facts":{"a":1}"#, 400, "facts"), ([good], #","transactionID":"1""#, 400, "transactionID"),
            ([good, good], "", 422, "environment"),
        ] {
            let answer = await service.setFacts(Self.members(customers, more))
            #expect(answer.status == status, "\(answer.text)")
            #expect(answer.json["field"] as? String == field, "\(answer.text)")
        }
        #expect(await service.lookUp(StoreService.token(1)).isEmpty)
    }

    @Test("the usernames of a caller with hashUsernames are hashed in a list too")
    func hashed() async throws {
        let token = "ost_0123456789abcdef"
        let hashing = Caller(
            name: "app", tokenDigest: try SHA256.hash(Array(token.utf8)), scopes: [.facts], apps: nil, expiry: nil,
            hashesUsernames: true)
        let service = try StoreService.customers(callers: [hashing])
        let answer = await service.send(
            "PUT", "/v1/customers/facts",
            #""environment":"Production","customers":[{"applicationUsername":"ann","facts":{"a":1}}]"#, token: token)
        #expect(answer.status == 204, "\(answer.text)")
        let name = CustomerIdentifier.applicationUsername(Sample.text("ann"))
        let known: [StoredCustomer] = try await service.store.customers(
            known: name, bundleID: Sample.bundleID, environment: nil)
        #expect(known.isEmpty)
    }
}
