import AppStoreStandIn
import Foundation
import OfferCore
import OfferCrypto
import OfferEligibility
import TestSupport
import Testing

@testable import AppStoreTestSupport

@Suite("The service asks the App Store", .serialized, .timeLimit(.minutes(5)))
struct AppStoreServiceTests {
    @Test("what never arrived is recovered at start, in both environments")
    func recovery() async throws {
        let process = try await AppStoreProcess()
        let service = try process.start()
        let count = process.standIn.production.notificationCount + process.standIn.sandbox.notificationCount
        try #require(count > 10)
        try await process.wait(
            for: #"offer_signer_notifications_total{outcome="recovered"} \#(count)"#, on: "/metrics", of: service)
        for original in process.standIn.production.subscriptions.joined() {
            #expect(try await process.subscriptions(of: original, on: service).count >= 1)
        }
        try await process.wait(for: #""appStoreAPI":"ok""#, on: "/health/ready", of: service)
        #expect(service.stop() == 0)
        #expect(try service.log.contains("missed notifications recovered"))
        #expect(process.standIn.statistics.answers(401) == 0)
        await process.standIn.stop()
    }

    @Test("a look-up of a customer whom nobody has mentioned asks the App Store, and knows")
    func lookUp() async throws {
        let process = try await AppStoreProcess()
        process.standIn.faults.add(.error(5_000_000), count: .max, endpoint: "notification_history")
        let service = try process.start()
        let original = try #require(process.standIn.production.subscriptions.joined().first)
        let truth = try #require(process.standIn.production.truth(at: .max)[original])
        // The first answer may come too late on a machine that is busy.
        var known: [[String: Any]] = []
        while known.isEmpty { known = try await process.subscriptions(of: original, on: service) }
        let subscription = try #require(known.first { $0["originalTransactionID"] as? String == original })
        #expect(subscription["transactionID"] as? String == truth.transactionID)
        #expect(subscription["productID"] as? String == truth.productID)
        #expect(process.standIn.statistics.requests("subscription_statuses") >= 1)
        #expect(try await process.subscriptions(of: "499999999999999", on: service).isEmpty)
        #expect(service.stop() == 0)
        await process.standIn.stop()
    }

    @Test("a customer is found by the order ID on the receipt, over HTTP and by the command")
    func orders() async throws {
        let process = try await AppStoreProcess()
        process.standIn.faults.add(.error(5_000_000), count: .max, endpoint: "notification_history")
        let originals = process.standIn.production.subscriptions.joined()
        let (original, other) = (try #require(originals.first), try #require(originals.dropFirst().first))
        let service = try process.start()
        let outcome = try process.run(
            [
                "customers", "show", "--bundle-id", "com.example.app", "--order-id",
                StandInWorld.orderNumber(of: original),
            ])
        #expect(
            outcome.status == 0 && outcome.standardOutput.contains(#""originalTransactionID":"\#(original)""#),
            "\(outcome)")
        let unknown = try process.run(
            ["customers", "show", "--bundle-id", "com.example.app", "--order-id", "M1"])
        #expect(unknown.status == 0 && unknown.standardOutput == "{\"customers\":[]}\n", "\(unknown)")
        for wrong in [
            ["--order-id", "M 1"], ["--order-id", "M1", "--transaction-id", "1"], [],
            ["--order-id", "M1", "--environment", "Sandbox"],
        ] {
            #expect(try process.run(["customers", "show", "--bundle-id", "com.example.app"] + wrong).status == 64)
        }
        func lookUp(_ members: String) async throws -> ReceivedResponse {
            try await service.post("/v1/customers/lookup", #"{"bundleID":"com.example.app",\#(members)}"#)
        }
        let found = try await lookUp(#""orderID":"\#(StandInWorld.orderNumber(of: other))""#)
        #expect(found.status == 200 && found.text.contains(#""originalTransactionID":"\#(other)""#), "\(found.text)")
        #expect(try await lookUp(#""orderID":"M1""#).text == #"{"customers":[]}"#)
        for (members, code) in [
            (#""orderID":"M/1""#, "invalid_field"), (#""orderID":"M1","transactionID":"1""#, "unknown_field"),
            (#""orderID":1"#, "wrong_type"),
        ] { #expect(try await lookUp(members).json["code"] as? String == code) }
        process.standIn.faults.add(.error(5_000_000), count: .max, endpoint: "order_lookup")
        let failed = try await lookUp(#""orderID":"\#(StandInWorld.orderNumber(of: original))""#)
        #expect(failed.status == 503 && failed.json["code"] as? String == "app_store_unavailable")
        #expect(service.stop() == 0)
        await process.standIn.stop()
    }

    @Test("a decision that the App Store keeps waiting says what is missing, and a later one knows")
    func lateAnswer() async throws {
        let process = try await AppStoreProcess()
        process.standIn.faults.add(.error(5_000_000), count: .max, endpoint: "notification_history")
        process.standIn.faults.add(.delay(2000), endpoint: "subscription_statuses")
        try setRule("{everSubscribed: true}", of: process)
        let service = try process.start(["SUBSCRIPTION_OFFERS_APP_STORE_WAIT_MS": "100"])
        let (original, account) = try eligibleCustomer(of: process)
        let customer = #""appAccountToken":"\#(account)","transactionID":"\#(original)""#
        let first = try await decide(customer, service)
        #expect(first.contains(#""code":"unknown""#) && first.contains("app_store"), "\(first)")
        try await waitUntil {
            try await decide(customer, service).contains(#""offers":[{"productID":"com.example.app.pro.weekly""#)
        }
        #expect(process.standIn.statistics.requests("subscription_statuses") == 1, "the one question was enough")
        #expect(service.stop() == 0)
        await process.standIn.stop()
    }

    @Test("a rule that needs to know what never happened has the App Store asked, once for each customer")
    func neverBought() async throws {
        let process = try await AppStoreProcess()
        try setRule("{not: {owns: com.example.never}}", of: process)
        let service = try process.start()
        // The notifications have made every customer known.
        let count = process.standIn.production.notificationCount + process.standIn.sandbox.notificationCount
        try await process.wait(
            for: #"offer_signer_notifications_total{outcome="recovered"} \#(count)"#, on: "/metrics", of: service)
        let customer = #""appAccountToken":"\#(try eligibleCustomer(of: process).account)""#
        let asked = process.standIn.statistics.requests("transaction_history")
        try await waitUntil {
            try await decide(customer, service).contains(#""offers":[{"productID":"com.example.app.pro.weekly""#)
        }
        let answered = process.standIn.statistics.requests("transaction_history")
        #expect(answered > asked)
        for _ in 0..<5 { #expect(try await decide(customer, service).contains(#""offers":[{"productID""#)) }
        #expect(process.standIn.statistics.requests("transaction_history") == answered, "one question is enough")
        #expect(service.stop() == 0)
        await process.standIn.stop()
    }

    /// Gives the offer a rule.
    private func setRule(_ rule: String, of process: AppStoreProcess) throws {
        let text = try process.folder.text("offers.yaml").replacing(
            "offers: [retention_50off_3m]",
            with: "subscriptionGroupID: '21012345', offers: [{offerID: o, rule: \(rule)}]")
        try process.folder.write(text.utf8, to: "offers.yaml")
    }

    /// A customer to whom the offer is refused only while data is missing. Status 3 is a billing retry.
    private func eligibleCustomer(of process: AppStoreProcess) throws -> (original: String, account: String) {
        let customer = process.standIn.production.truth(at: .max).first { _, truth in
            !truth.accounts.isEmpty && truth.redeemed.isEmpty && truth.status != 3
        }
        let (original, truth) = try #require(customer)
        return (original, try #require(truth.accounts.values.first))
    }

    /// Requests a decision about a customer in production.
    private func decide(_ customer: String, _ service: RunningService) async throws -> String {
        let response = try await service.post(
            "/v1/decisions",
            #"{"bundleID":"com.example.app","environment":"Production","sign":false,\#(customer)}"#)
        try #require(response.status == 200, "\(response.text)")
        return response.text
    }

    @Test("while the App Store does not answer, offers go on, and health says what fails")
    func silence() async throws {
        let process = try await AppStoreProcess()
        process.standIn.faults.add(.status(503), count: .max)
        let service = try process.start()
        let offer =
            #"{"bundleID":"com.example.app","productID":"com.example.app.pro.weekly","#
            + #""offerID":"retention_50off_3m","applicationUsername":"u"}"#
        try await process.wait(for: #""appStoreAPI":"degraded""#, on: "/health/ready", of: service)
        process.standIn.faults.clear()
        process.standIn.faults.add(.silence, count: .max)
        for _ in 0..<20 {
            #expect(try await service.post("/v1/promotional-offers", offer).status == 200)
            #expect(try await process.subscriptions(of: "400000000000001", on: service).isEmpty)
        }
        #expect(service.stop() == 0)
        await process.standIn.stop()
    }

    @Test("the key may change while the service asks: no request gets 401")
    func rotation() async throws {
        let process = try await AppStoreProcess(customers: 20)
        // Each look-up asks about another customer.
        process.standIn.faults.add(.error(5_000_000), count: .max, endpoint: "notification_history")
        let service = try process.start()
        let key = try PrivateKeyPEM.generate()
        let old = try SigningKey(text: process.keys.read(RunningService.keyFile))
        for (number, original) in process.standIn.production.subscriptions.joined().enumerated() {
            if number == 8 {
                // As keys/README.md says: the new key first, and the old one is revoked when it is out of use.
                process.standIn.tokens.replace(
                    keys: [RunningService.keyID: old, "SECONDKEY2": try SigningKey(text: key)])
                try process.keys.drop(key, as: "SubscriptionKey_SECONDKEY2.p8")
                try service.reload(keyID: "SECONDKEY2")
                try await process.wait(for: "SECONDKEY2", on: "/health/ready", of: service)
                process.standIn.tokens.replace(keys: ["SECONDKEY2": try SigningKey(text: key)])
            }
            _ = try await process.subscriptions(of: original, on: service)
        }
        #expect(process.standIn.statistics.answers(401) == 0)
        #expect(process.standIn.statistics.requests("subscription_statuses") > 8)
        #expect(service.stop() == 0)
        await process.standIn.stop()
    }

    @Test("a receipt about which the App Store Server API cannot tell is asked about at the receipt service")
    func receipt() async throws {
        let process = try await AppStoreProcess()
        process.standIn.faults.add(.error(5_000_000), count: .max, endpoint: "notification_history")
        process.standIn.faults.add(.error(4_040_010), count: .max, endpoint: "subscription_statuses")
        let environment = try process.environment(believing: ReceiptSigner.standard.get().chain.root)
        let service = try RunningService(arguments: [], environment: environment, keys: process.keys)
        let original = try #require(process.standIn.sandbox.subscriptions.joined().first)
        var purchase = TestReceipt.Purchase(transactionID: original)
        purchase.put(.text(1705, original))
        let receipt = try ReceiptSigner.base64(TestReceipt(purchases: [purchase]))
        let offer =
            #"{"bundleID":"com.example.app","productID":"com.example.app.pro.weekly","offerID":"retention_50off_3m","#
            + #""applicationUsername":"u","proofs":{"appReceipt":"\#(receipt)"}}"#
        let response = try await service.post("/v1/promotional-offers", offer)
        #expect(response.status == 200, "\(response.text)")
        // Production refers it to the sandbox.
        for series in [
            #"environment="Production",outcome="status_21007"} 1"#, #"environment="Sandbox",outcome="success"} 1"#,
        ] {
            try await process.wait(
                for: #"offer_signer_app_store_requests_total{endpoint="verify_receipt","# + series, on: "/metrics",
                of: service)
        }
        let truth = try #require(process.standIn.sandbox.truth(at: .max)[original])
        var known: [[String: Any]] = []
        while !known.contains(where: { $0["transactionID"] as? String == truth.transactionID }) {
            known = try await process.subscriptions(of: original, in: "Sandbox", on: service)
        }
        #expect(known.contains { $0["autoRenews"] as? Bool == truth.autoRenews })
        #expect(process.standIn.statistics.requests("verify_receipt") == 2)
        #expect(service.stop() == 0)
        await process.standIn.stop()
    }

    @Test("the stand-in prints all settings that name servers, so that nothing beside it is asked")
    func settings() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: MarkdownBlock.repository.appending(path: path), encoding: .utf8)
        }
        let program = try text("Tests/AppStoreStandInProgram/StandInCommand.swift")
        let settings = try text("docs/configuration.md")
        // The URLs of the console and of links are our own.
        let names = settings.matches(of: /`SUBSCRIPTION_OFFERS_([A-Z_]+_URL)`/).map { String($0.1) }
            .filter { !["CONSOLE_URL", "LINKS_URL"].contains($0) }
        #expect(names.count >= 4)
        for name in names {
            #expect(program.contains("\"\(name)\"") || program.contains("SUBSCRIPTION_OFFERS_\(name)="), "\(name)")
        }
    }
}
