import AppStoreTestSupport
import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import TestSupport
import Testing

@testable import AppStoreStandIn

@Suite("Customers of the stand-in who are told what to do")
struct CustomerDeskTests {
    private let desk: CustomerDesk
    private let key: SigningKey
    private let now = NIOLockedValueBox<Int64>(1_800_000_000_000)
    private let reported = NIOLockedValueBox(0)
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try NotificationSigner.make(in: folder.path + "/chain")
        key = try SigningKey(text: PrivateKeyPEM.generate())
        let world = try StandInWorld(.init(), start: 1_800_000_000_000, folder: folder.path + "/chain")
        desk = CustomerDesk(
            world: world, check: OfferCheck(bundleID: world.settings.bundleID, keys: ["KEY": key]),
            now: { [now] in now.withLockedValue { $0 } }
        ) { [reported] _ in reported.withLockedValue { $0 += 1 } }
    }

    private func send(_ step: String, _ body: String = "") throws -> [String: Any] {
        let request = StandInRequest(
            method: "POST", path: ["customers", "ana", step], query: [], authorization: nil, body: Array(body.utf8))
        let (customer, step) = try #require(CustomerDesk.names(of: request))
        let answer = try desk.answer(request, customer, step)
        return try #require(try JSONSerialization.jsonObject(with: Data(answer)) as? [String: Any])
    }

    /// A signed offer, as the service answers.
    private func offer(_ offerID: String = "half", nonce: String = "n1", signedAs signed: String = "half") throws
        -> String
    {
        let time = now.withLockedValue { $0 }
        let fields = ["com.example.app", "KEY", "com.example.app.pro.weekly", signed, "a1", nonce, "\(time)"]
        let signature = try key.sign(Array(fields.joined(separator: "\u{2063}").utf8))
        return """
            {"productID":"com.example.app.pro.weekly","offerID":"\(offerID)","appAccountToken":"a1","signature":\
            {"keyID":"KEY","nonce":"\(nonce)","timestamp":\(time),"signature":"\(Data(signature).base64EncodedString())"}}
            """
    }

    @Test("a customer subscribes, cancels, and redeems an offer, once for each signature")
    func story() throws {
        #expect(throws: StandInWorld.NoSubscription.self) { try send("cancel") }
        let bought = try send(
            "subscribe", #"{"productID":"com.example.app.pro.weekly","appAccountToken":"a1"}"#)
        #expect(bought["status"] as? Int == 1 && bought["appAccountToken"] as? String == "a1")
        _ = try send("cancel")
        let page = try send("page")
        #expect((page["signedPayload"] as? String)?.split(separator: ".").count == 3)
        _ = try send("redeem", offer())
        #expect(reported.withLockedValue { $0 } == 3)
        #expect(throws: StandInWorld.Refusal(4_000_000, "invalidOfferSignature")) { try send("redeem", offer()) }
    }

    @Test("a signature of another offer, by an unknown key or older than a day redeems nothing")
    func refusals() throws {
        _ = try send("subscribe", #"{"productID":"com.example.app.pro.weekly"}"#)
        let refusal = StandInWorld.Refusal(4_000_000, "invalidOfferSignature")
        #expect(throws: refusal) { try send("redeem", offer("other")) }
        #expect(throws: refusal) { try send("redeem", offer().replacing(#""KEY""#, with: #""OTHER""#)) }
        let old = try offer()
        now.withLockedValue { $0 += 86_400_000 }
        #expect(throws: refusal) { try send("redeem", old) }
        _ = try send("redeem", offer())
    }
}
