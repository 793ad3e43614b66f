import AppStoreData
import Foundation
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferService
import OfferTelemetry
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import OfferConfiguration
@testable import SubscriberSync

@Suite("Notifications")
struct NotificationTests {
    @Test("a notification is stored with its facts before it gets 200, and once however often it arrives")
    func stored() async throws {
        let intake = try StoreService.notifications()
        let first = try await intake.notify(TestNotification())
        #expect(first.status == 200)
        #expect(first.json["outcome"] as? String == "stored")
        #expect(first.json["notificationUUID"] as? String == "002e14d5-51f5-4503-b5a8-c3a1af68eb20")
        let customers = try await intake.sampleCustomers()
        #expect(customers.count == 1)
        #expect(Set(customers[0].facts.map(\.key.kind)) == [.transaction, .renewalInfo, .status])
        let again = try await intake.notify(TestNotification())
        #expect(again.status == 200 && again.json["outcome"] as? String == "known")
        #expect(try await intake.sampleCustomers() == customers)
        #expect(intake.outcomes == ["stored": 1, "known": 1])
        #expect(try await intake.store.intakes().map(\.notifications) == [1])
    }

    @Test("the body is kept as received")
    func body() async throws {
        let intake = try StoreService.notifications()
        let body = try TestNotification().body(signedBy: intake.chain) + "\n"
        #expect(await intake.notify(body).status == 200)
        #expect(try await intake.store.payloads(after: nil, limit: 10).map(\.body) == [Array(body.utf8)])
    }

    @Test("trap 43: a type that Apple has added since is stored with what it brings")
    func unknownType() async throws {
        let intake = try StoreService.notifications()
        #expect(try await intake.notify(TestNotification(type: "SUBSCRIPTION_PAUSED", subtype: "NEW")).status == 200)
        #expect(try await intake.sampleCustomers().first?.facts.count == 3)
        let series =
            #"offer_signer_notification_types_total{app="com.example.app",environment="Production",type="SUBSCRIPTION_PAUSED"}"#
        #expect(intake.routes.scrape()[series] == 1)
        #expect(intake.routes.log.text.contains("notification of an unknown kind stored"))
        for number in 0..<30 {
            let type = number < 10 ? "not a name \(number)" : "TYPE_\(number)"
            #expect(try await intake.notify(TestNotification(type: type, uuid: "n\(number)")).status == 200)
        }
        let others = series.replacing("SUBSCRIPTION_PAUSED", with: "other")
        #expect(intake.routes.scrape()[others] == 11, "at most twenty unknown types have a series of their own")
        #expect(intake.outcomes == ["stored": 31])
    }

    @Test(
        "trap 43: a notification of our app whose content cannot be used is stored without facts",
        arguments: [
            TestNotification(change: {
                $0.without("data").with(
                    "newContent", SamplePayload.data.without("signedTransactionInfo", "signedRenewalInfo").text)
            }),
            TestNotification(changeData: { $0.with("status", "true") }),
            TestNotification(transaction: SamplePayload.transaction.with("bundleId", #""com.example.other""#)),
            TestNotification(transaction: SamplePayload.transaction.with("purchaseDate", #""soon""#)),
            TestNotification(changeData: { $0.with("signedTransactionInfo", #""a.b.c""#) }),
        ])
    func unusable(notification: TestNotification) async throws {
        let intake = try StoreService.notifications()
        let response = try await intake.notify(notification)
        #expect(response.status == 200, "\(response.text)")
        #expect(try await intake.sampleCustomers().isEmpty)
        #expect(try await intake.store.payloads(after: nil, limit: 10).count == 1)
    }

    @Test("only content with a fault counts as unusable")
    func unusableOutcome() async throws {
        let intake = try StoreService.notifications()
        _ = try await intake.notify(TestNotification(changeData: { $0.with("status", "true") }))
        #expect(intake.outcomes == ["unusable": 1])
        #expect(intake.routes.log.text.contains("content cannot be used"))
        _ = try await intake.notify(
            TestNotification(
                uuid: "2",
                change: {
                    $0.without("data").with(
                        "later", #"{"bundleId":"com.example.app","appAppleId":1234567890,"environment":"Sandbox"}"#)
                }))
        #expect(intake.outcomes == ["unusable": 1, "stored": 1])
    }

    @Test(
        "a notification that names no bundle ID is kept if it can only be about one app",
        arguments: [
            #"{"unclaimSeatIds":["6b3a1c7e-3f2b-4f0d-9b1a-0c5d6e7f8a9b"]}"#, #"{"environment":"Sandbox"}"#,
            #"{"appAppleId":1234567890}"#,
        ])
    func unnamedApp(content: String) async throws {
        let intake = try StoreService.notifications(receivers: ["https://receiver.example.com/"])
        let unclaimed = TestNotification(
            type: "UNCLAIM_SEATS", transaction: nil, renewalInfo: nil,
            change: { $0.without("data").with("unclaimInfo", content) })
        #expect(try await intake.notify(unclaimed).status == 200)
        let environment = content.contains("Sandbox") ? "Sandbox" : "Production"
        let labels = #"app="com.example.app",environment="\#(environment)",type="UNCLAIM_SEATS""#
        #expect(intake.routes.scrape()["offer_signer_notification_types_total{\(labels)}"] == 1)
        let log = intake.routes.log.text
        #expect(log.contains(#""type": UNCLAIM_SEATS"#) && log.contains("notification stored"), "\(log)")
        #expect(!log.contains("unknown kind"))
        #expect(try await intake.store.payloads(after: nil, limit: 10).count == 1)
        #expect(try await intake.sampleCustomers().isEmpty)
        // Another developer's notification may name no app either.
        let forwards = try await intake.store.receivers().map(\.pending)
        #expect(forwards == (content.contains("appAppleId") ? [1] : []))
    }

    @Test("with several apps, a notification that names none is refused, and the log has its type")
    func unnamedAmongSeveral() async throws {
        let intake = try StoreService.notifications(others: [BundleID(utf8: Array("com.example.other".utf8))])
        let response = try await intake.notify(
            TestNotification(
                type: "UNCLAIM_SEATS", transaction: nil, renewalInfo: nil,
                change: { $0.without("data").with("unclaimInfo", #"{"unclaimSeatIds":[]}"#) }))
        #expect(response.status == 422, "\(response.text)")
        #expect(intake.routes.log.text.contains("UNCLAIM_SEATS"), "\(intake.routes.log.text)")
        #expect(try await intake.store.payloads(after: nil, limit: 10).isEmpty)
    }

    @Test(
        "a notification about another app is refused, even if only one app is configured",
        arguments: [#"{"appAppleId":1}"#, #"{"bundleId":"com.example.other"}"#])
    func anotherApp(content: String) async throws {
        let intake = try StoreService.notifications()
        let response = try await intake.notify(
            TestNotification(
                type: "UNCLAIM_SEATS", transaction: nil, renewalInfo: nil,
                change: { $0.without("data").with("unclaimInfo", content) }))
        #expect(response.status == 422)
        #expect(try await intake.store.payloads(after: nil, limit: 10).isEmpty)
    }

    @Test("a TEST notification shows up in the log and the metrics")
    func test() async throws {
        let intake = try StoreService.notifications()
        let notification = TestNotification(
            type: "TEST", environment: "Sandbox", transaction: nil, renewalInfo: nil,
            changeData: { $0.without("status", "appAppleId") })
        #expect(try await intake.notify(notification).status == 200)
        #expect(intake.routes.log.text.contains("notification stored"))
        let series = #"offer_signer_notification_types_total{app="com.example.app",environment="Sandbox",type="TEST"}"#
        #expect(intake.routes.scrape()[series] == 1)
    }

    @Test(
        "trap 43: what is forged or not for our apps gets 422 and leaves nothing",
        arguments: [
            ("another app", "another_bundle_id"), ("another number", "another_app_apple_id"),
            ("Xcode", "environment_not_accepted"),
            ("a transaction", "payload_of_another_kind"), ("forged", "signature_invalid"),
            ("another root", "certificate_signature_invalid"), ("not a JWS", "jws_not_three_parts"),
        ])
    func refused(name: String, code: String) async throws {
        let intake = try StoreService.notifications()
        let body: String
        switch name {
        case "another app":
            body = try TestNotification(changeData: { $0.with("bundleId", #""com.example.other""#) }).body(
                signedBy: intake.chain)
        case "another number":
            body = try TestNotification(changeData: { $0.with("appAppleId", "1") }).body(signedBy: intake.chain)
        case "Xcode": body = try TestNotification(environment: "Xcode").body(signedBy: intake.chain)
        case "a transaction":
            body = #"{"signedPayload":"\#(try intake.chain.jws(SamplePayload.transaction))"}"#
        case "forged":
            var jws = Array(try TestNotification().jws(signedBy: intake.chain).utf8)
            let place = jws.count - 20
            jws[place] = jws[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            body = #"{"signedPayload":"\#(String(decoding: jws, as: UTF8.self))"}"#
        case "another root": body = try TestNotification().body(signedBy: TestChain())
        default: body = #"{"signedPayload":"abc"}"#
        }
        let response = await intake.notify(body)
        #expect(response.status == 422, "\(response.text)")
        #expect(response.json["code"] as? String == "notification_refused")
        #expect(response.json["reason"] as? String == code)
        #expect(try await intake.store.intakes().isEmpty)
        #expect(intake.outcomes == ["refused": 1])
    }

    @Test(
        "a body that is no notification gets 400",
        arguments: [
            ("{}", "missing_field"), (#"{"signedPayload":1}"#, "wrong_type"), ("[]", "not_an_object"),
            ("{", "unreadable_json"),
        ])
    func unreadable(body: String, code: String) async throws {
        let response = await (try StoreService.notifications()).notify(body)
        #expect(response.status == 400)
        #expect(response.json["code"] as? String == code)
    }

    @Test("members that Apple adds to the body are ignored")
    func newMember() async throws {
        let intake = try StoreService.notifications()
        let jws = try TestNotification().jws(signedBy: intake.chain)
        #expect(await intake.notify(#"{"signedPayload":"\#(jws)","more":[1]}"#).status == 200)
    }

    @Test("data signed more than five minutes in the future is to be sent again, because our clock must be wrong")
    func future() async throws {
        let intake = try StoreService.notifications()
        let now = Fixtures.timestamp.milliseconds
        let late = try await intake.notify(TestNotification(signedDate: now + 300_001))
        #expect(late.status == 503)
        #expect(late.json["code"] as? String == "notifications_unavailable")
        #expect(late.json["reason"] as? String == "signed_in_future")
        #expect(try await intake.notify(TestNotification(signedDate: now + 300_000)).status == 200)
        #expect(intake.outcomes == ["failed": 1, "stored": 1])
        let inner = SamplePayload.transaction.with("signedDate", "\(now + 300_001)")
        #expect(try await intake.notify(TestNotification(uuid: "3", transaction: inner)).status == 503)
    }

    @Test("trap 43: without a store, a notification is to be sent again")
    func noStore() async throws {
        let intake = try StoreService.notifications(isOpen: false)
        let response = try await intake.notify(TestNotification())
        #expect(response.status == 503)
        #expect(response.json["code"] as? String == "store_unavailable")
        #expect(intake.outcomes == ["failed": 1])
        let none = try TestService()
        let answer = await none.postLater(
            "/v1/app-store-notifications", try TestNotification().body(signedBy: intake.chain))
        #expect(answer.json["code"] as? String == "store_unavailable")
    }

    @Test("a sender of bad notifications is refused unread after a while, and a good one is not counted")
    func limit() async throws {
        let intake = try StoreService.notifications(limits: .with(\.notifications, 1, 3))
        let good = try TestNotification().body(signedBy: intake.chain)
        #expect(await intake.notify(good, peer: "192.0.2.1").status == 200)
        for number in 0..<5 {
            let other = try TestNotification(uuid: "\(number)").body(signedBy: intake.chain)
            #expect(await intake.notify(other, peer: "192.0.2.1").status == 200)
        }
        for _ in 0..<3 { #expect(await intake.notify("{}", peer: "192.0.2.1").status == 400) }
        let refused = await intake.notify(good, peer: "192.0.2.1")
        #expect(refused.status == 429)
        #expect(await intake.notify(good, peer: "192.0.2.2").status == 200)
    }

    @Test("a notification that is sent again counts against the sender, and earns its connection nothing")
    func replays() async throws {
        let intake = try StoreService.notifications(limits: .with(\.notifications, 1, 3))
        let body = try TestNotification().body(signedBy: intake.chain)
        func post(_ peer: String, on standing: ClientStanding) async -> HTTPResponse {
            await intake.routes.respondLater(
                HTTPRequest(
                    method: "POST", target: "/v1/app-store-notifications", contentType: "application/json",
                    peer: IPAddress(peer), standing: standing, body: Array(body.utf8)))
        }
        let (first, second) = (ClientStanding(), ClientStanding())
        #expect(await post("192.0.2.1", on: first).status == 200)
        #expect(
            first.level == .user, "what is new and genuine can only come from the App Store, or from whom it told first"
        )
        for _ in 0..<3 { #expect(await post("192.0.2.2", on: second).json["outcome"] as? String == "known") }
        #expect(await post("192.0.2.2", on: second).status == 429)
        #expect(second.level == .stranger)
        #expect(await post("192.0.2.3", on: ClientStanding()).status == 200)
        #expect(intake.outcomes == ["stored": 1, "known": 4])
    }

    @Test("the route takes no token, and needs none where there are callers")
    func noToken() async throws {
        let intake = try StoreService.notifications()
        let body = try TestNotification().body(signedBy: intake.chain)
        let response = await intake.routes.postLater("/v1/app-store-notifications", body, token: "nonsense")
        #expect(response.status == 200)
    }

    @Test(
        "trap 42: a notification waits for the OCSP responders",
        arguments: [("good", 200), ("revoked", 422), ("silent", 503)])
    func revocation(answer: String, status: Int) async throws {
        let chain = try TestChain(
            intermediate: { $0.extensions.append(.ocspResponders("http://ocsp.example.com/intermediate")) },
            leaf: { $0.extensions.append(.ocspResponders("http://ocsp.example.com/leaf")) })
        let intake = try StoreService.notifications(
            ocsp: { url, request in
                guard answer != "silent" else { return OCSPReply(status: 503, body: []) }
                let now = Fixtures.timestamp.milliseconds / 1000
                let isLeaf = url.hasSuffix("leaf")
                let responder = isLeaf ? chain.leafResponder : chain.intermediateResponder
                let state: TestResponder.Status = isLeaf && answer == "revoked" ? .revoked(date: now - 60) : .good
                return OCSPReply(
                    status: 200, body: try responder.response(to: request, state, from: now - 60, until: now + 3600))
            }, chain: chain)
        let trust = try #require(intake.routes.trust)
        let watch = AppStoreWatch(
            trust, client: nil, settings: AppStoreSettings(), readiness: Readiness(), log: intake.routes.log.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await watch.run() }
            let response = try await intake.notify(TestNotification())
            #expect(response.status == status, "\(response.text)")
            let reasons = [422: "certificate_revoked", 503: "revocation_unknown"]
            #expect(response.json["reason"] as? String == reasons[status])
            group.cancelAll()
        }
        #expect(try await intake.sampleCustomers().count == (status == 200 ? 1 : 0))
    }

    @Test("a notification of version 1 counts with the app's shared secret, and its receipt brings facts")
    func legacy() async throws {
        let intake = try StoreService.notifications(sharedSecret: "0123456789abcdef0123456789abcdef")
        let receipt = try ReceiptSigner.base64(TestReceipt(purchases: [.init()]))
        func body(_ password: String) -> String {
            """
            {"notification_type":"DID_RENEW","password":"\(password)","environment":"Sandbox","bid":"com.example.app",\
            "unified_receipt":{"environment":"Sandbox","status":0,\
            "latest_receipt":"\(receipt)",\
            "latest_receipt_info":[\(Array(repeating: #"{"quantity":"1"}"#, count: 100).joined(separator: ","))]}}
            """
        }
        let wrong = await intake.notify(body("0123456789abcdef0123456789abcdee"))
        #expect(wrong.status == 403 && wrong.json["code"] as? String == "shared_secret_refused")
        #expect(try await intake.store.intakes().isEmpty)
        let right = await intake.notify(body("0123456789abcdef0123456789abcdef"))
        #expect(right.status == 200, "\(right.text)")
        #expect(await intake.notify(body("0123456789abcdef0123456789abcdef")).json["outcome"] as? String == "known")
        let intakes = try await intake.store.intakes()
        #expect(intakes.map(\.app.environment) == [.sandbox])
        #expect(intakes.map(\.subscriptions) == [1])
        let unusable = await intake.notify(
            #"{"notification_type":"DID_RENEW","password":"0123456789abcdef0123456789abcdef","environment":"Sandbox","#
                + #""bid":"com.example.app","unified_receipt":{"environment":"Sandbox","status":0,"latest_receipt":"AAAA"}}"#
        )
        #expect(unusable.status == 200, "the App Store has nothing better to send: \(unusable.text)")
        #expect(try await intake.store.intakes().map { [$0.notifications, $0.subscriptions] } == [[2, 1]])
        let none = try StoreService.notifications()
        #expect(await none.notify(body("")).status == 403)
        #expect(!intake.routes.log.text.contains("0123456789abcdef"))
    }

    @Test("a stranger with a notification of version 1 does not learn which apps are configured, and with a secret")
    func legacyProbe() async throws {
        func body(_ app: String, _ more: String = #","password":"0123456789abcdee""#) -> String {
            #"{"notification_type":"DID_RENEW","environment":"Sandbox","bid":"\#(app)"\#(more)}"#
        }
        var answers: Set<String> = []
        for service in [
            try StoreService.notifications(sharedSecret: "0123456789abcdef"), try StoreService.notifications(),
        ] {
            for app in ["com.example.app", "com.example.other", "com.example.App", "x"] {
                for more in [#","password":"0123456789abcdee""#, #","password":"""#, ""] {
                    let response = await service.notify(body(app, more), peer: "192.0.2.1")
                    #expect(response.status == 403)
                    let id = try #require(response.json["requestID"] as? String)
                    answers.insert(response.text.replacing(id, with: ""))
                }
            }
            #expect(service.outcomes == ["refused": 12])
            // The log says what the sender must not learn.
            #expect(service.routes.log.text.contains("another_bundle_id"))
        }
        #expect(answers.count == 1, "\(answers)")
        #expect(answers.first?.contains("shared_secret_refused") == true)
    }

    @Test("proofs of an offer are merged into the store")
    func proofs() async throws {
        let intake = try StoreService.notifications()
        let transaction = SamplePayload.transaction.with("environment", #""Sandbox""#)
        let jws = try intake.chain.jws(transaction)
        let response = await intake.routes.postLater(
            "/v1/promotional-offers",
            #"{"bundleID":"com.example.app","productID":"p","offerID":"o","applicationUsername":"u","proofs":{"signedTransactions":["\#(jws)"]}}"#
        )
        // The catalogue lists no offer, but the proof counts.
        #expect(response.status == 403)
        #expect(try await intake.sampleCustomers().map(\.app.environment) == [.sandbox])
    }
}
