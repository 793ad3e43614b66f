import Foundation
import OfferAudit
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("Callers change what is known of customers")
struct CustomerChangeTests {
    private static let account = #""appAccountToken":"\#(Sample.token(1))""#

    private static func facts(_ service: StoreService) async -> [String: Any]? {
        await service.lookUp(account).first?["facts"] as? [String: Any]
    }

    @Test("facts are set, replaced and removed one by one, also of a customer not seen yet")
    func facts() async throws {
        let service = try StoreService.customers(environments: [.production])
        let first = await service.setFacts(Self.account + #","facts":{"a":1,"b":"x","c":true}"#)
        #expect(first.status == 204 && first.body.isEmpty)
        let second = await service.setFacts(Self.account + #","facts":{"a":2.5,"b":null}"#)
        #expect(second.status == 204)
        let facts = try #require(await Self.facts(service))
        #expect(facts.keys.sorted() == ["a", "c"] && facts["a"] as? Double == 2.5 && facts["c"] as? Bool == true)
        try await service.add("1", account: 1)
        let customer = await service.lookUp(#""transactionID":"1""#).first
        #expect((customer?["facts"] as? [String: Any])?.count == 2)
    }

    @Test("of a fact under several identifiers, the latest counts")
    func latest() async throws {
        let service = try StoreService.customers(environments: [.production])
        try await service.add("1", account: 1)
        for (identifier, value) in [(#""transactionID":"1""#, 1), (Self.account, 2), (#""transactionID":"1""#, 3)] {
            service.routes.setTime(Sample.day(10 + Double(value)))
            #expect(await service.setFacts(identifier + #","facts":{"a":\#(value)}"#).status == 204)
            #expect(await Self.facts(service)?["a"] as? Int == value)
        }
    }

    @Test("a change needs the environment if the app has several and the customer is not known in just one")
    func environmentNeeded() async throws {
        let service = try StoreService.customers()
        let change = Self.account + #","facts":{"a":1}"#
        let unknown = await service.setFacts(change)
        #expect(unknown.status == 422 && unknown.json["code"] as? String == "environment_needed")
        #expect(unknown.json["field"] as? String == "environment")
        try await service.add("1", account: 1, in: Sample.sandbox)
        #expect(await service.setFacts(change).status == 204)
        #expect(await service.lookUp(Self.account).map { $0["environment"] as? String } == ["Sandbox"])
        #expect(await service.setFacts(change + #","environment":"Production""#).status == 204)
        #expect(await service.setFacts(change).status == 422)
        #expect(await service.link(#""transactionID":"1",\#(Self.account)"#).status == 204)
        let wrong = await service.setFacts(change + #","environment":"Xcode""#)
        #expect(wrong.status == 400 && wrong.json["detail"] as? String == "environment must be Production or Sandbox.")
    }

    @Test("an erasure removes the customer in every environment, and keeps counts")
    func erasure() async throws {
        let service = try StoreService.customers()
        try await service.addRichCustomer()
        _ = try await service.store.apply(Sample.delivery("n", Sample.facts(7, account: 1)))
        #expect(await service.setFacts(Self.account + #","environment":"Production","facts":{"a":1}"#).status == 204)
        let answer = await service.erase(Self.account)
        #expect(answer.status == 200 && answer.text == #"{"subscriptions":3,"payloads":1}"#)
        for members in [Self.account, #""transactionID":"3""#, #""appTransactionID":"A""#] {
            #expect(await service.lookUp(members).isEmpty)
        }
        let intake = try #require(try await service.store.intakes().first { $0.app == Sample.production })
        #expect(intake.notifications == 1 && intake.subscriptions == 3 && intake.erasedSubscriptions == 2)
        #expect(await service.erase(Self.account).text == #"{"subscriptions":0,"payloads":0}"#)
    }

    @Test("an erasure in one environment leaves the other")
    func erasureInOne() async throws {
        let service = try StoreService.customers()
        try await service.addRichCustomer()
        #expect(await service.erase(Self.account + #","environment":"Sandbox""#).json["subscriptions"] as? Int == 1)
        #expect(await service.lookUp(Self.account).map { $0["environment"] as? String } == ["Production"])
    }

    @Test("an erasure goes on until everything is erased")
    func largeErasure() async throws {
        let service = try StoreService.customers()
        let count = StoredCustomer.maximumSubscriptions + 5
        try await service.store.merge((0..<count).flatMap { Sample.facts($0, account: 1) }, in: Sample.production)
        #expect(await service.erase(Self.account).json["subscriptions"] as? Int == count)
        #expect(await service.lookUp(Self.account).isEmpty)
    }

    // MARK: Audit trail

    @Test("every change has its line in the audit trail, without a name or value, and the chain stays valid")
    func audited() async throws {
        let folder = try TemporaryFolder()
        let service = try StoreService.customers(trail: try await StoreService.trail(in: folder))
        let secret = "value-of-a-fact"
        let environment = #""environment":"Production""#
        #expect(
            await service.setFacts("\(Self.account),\(environment),\"facts\":{\"secretName\":\"\(secret)\"}").status
                == 204)
        #expect(await service.link(#"\#(environment),"transactionID":"2000000123",\#(Self.account)"#).status == 204)
        #expect(
            await service.link(#"\#(environment),"transactionID":"2000000123","appAccountToken":null"#).status == 204)
        #expect(await service.lookUp(Self.account).count == 1)
        #expect(await service.erase(Self.account).status == 200)
        let text = try folder.text("audit.jsonl")
        for hidden in [secret, "secretName", "\(Sample.token(1))", "2000000123"] { #expect(!text.contains(hidden)) }
        let lines = try text.split(separator: "\n").map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }.filter { $0["kind"] != nil }
        let kinds = lines.map { $0["kind"] as? String }
        #expect(kinds == ["customer_facts", "customer_link", "customer_link", "customer_erased"])
        #expect(lines.allSatisfy { $0["outcome"] as? String == "accepted" })
        #expect(lines.map { $0["environment"] as? String } == ["Production", "Production", "Production", nil])
        let key = try HMACSHA256Key(Array("0123456789abcdef".utf8))
        let (account, transaction) = (try Self.code("\(Sample.token(1))", key), try Self.code("2000000123", key))
        #expect(lines.map { $0["customer"] as? String } == [account, transaction, transaction, account])
        #expect(lines.map { $0["account"] as? String } == [nil, account, nil, nil])
        var check = AuditCheck()
        for line in text.split(separator: "\n") {
            let finding = try check.take(Array(line.utf8)[...])
            #expect(finding == nil)
        }
    }

    private static func code(_ text: String, _ key: HMACSHA256Key) throws -> String {
        Hexadecimal.text(of: try key.code(of: Array(text.utf8)))
    }

    @Test("nothing is changed while the audit trail cannot be written")
    func auditUnavailable() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/audit.jsonl", withDestinationPath: "/dev/full")
        let service = try StoreService.customers(trail: try await StoreService.trail(in: folder))
        try await service.addRichCustomer()
        let answer = await service.erase(Self.account)
        #expect(answer.status == 503 && answer.json["code"] as? String == "audit_unavailable")
        #expect(await service.lookUp(Self.account).count == 2, "a look-up changes nothing, so it needs no line")
    }

    @Test("a change that the database refuses has a second line that says so")
    func storeRefuses() async throws {
        let folder = try TemporaryFolder()
        let service = try StoreService.customers(trail: try await StoreService.trail(in: folder))
        try service.store.close()
        let answer = await service.erase(Self.account)
        #expect(answer.status == 503 && answer.json["code"] as? String == "store_unavailable")
        func outcomes() throws -> [Substring] {
            try folder.text("audit.jsonl")
                .matches(of: /"customer_erased".*"outcome":"([a-z_]+)"/).map(\.output.1)
        }
        try await waitUntil { try outcomes().count == 2 }
        #expect(try outcomes() == ["accepted", "store_unavailable"])
    }
}
