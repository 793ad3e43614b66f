import Foundation
import Testing

@testable import OfferSignerClient

@Suite struct AnswerTests {
    private let offer = Offer(
        productID: Fixtures.productID, offerID: "half", billingPlan: nil, placement: nil, session: UUID())

    private func signed(_ step: ScriptedTransport.Step, for customer: OfferCustomer = Fixtures.customer) throws
        -> SignedOffer
    {
        let answer = try step(TransportRequest(path: "", headers: [:], body: Data()))
        return try JSONDecoder().decode(SigningAnswer.self, from: answer.body)
            .signed(offer, of: Fixtures.bundleID, for: customer, answeredAt: 1_767_225_600)
    }

    @Test("a signature is decoded for StoreKit 2 and kept as text for StoreKit 1")
    func forms() throws {
        let signed = try signed(Fixtures.signed(1))
        let signature = try #require(signed.signature)
        #expect(signature.base64 == Fixtures.signature)
        #expect(signature.der.first == 0x30 && signature.der.count == 72)
        #expect(signature.nonce == Fixtures.nonce(1))
        #expect(signed.nonce == Fixtures.nonce(1001))
    }

    @Test("the lifetime is a difference between two of the service's times")
    func lifetime() throws {
        #expect(try signed(Fixtures.signed(1)).secondsValid == 86_400)
        #expect(try signed(Fixtures.signed(1, v1: false)).secondsValid == nil)
    }

    @Test(
        "an answer that the App Store would reject is refused",
        arguments: [
            (#""2X9R4HXF34""#, #""""#), (Fixtures.nonce(1), Fixtures.nonce(1).uppercased()), (Fixtures.nonce(1), "1"),
            ("1767225600000", "1767225600"), ("1767225600000", #""1767225600000""#),
            ("1767225600000", "1767225600000.5"),
            (Fixtures.signature, Data(Fixtures.signature.utf8).base64EncodedString()),
            (Fixtures.signature, Data(repeating: 7, count: 64).base64EncodedString()),
            (Fixtures.bundleID, "com.example.other"), (Fixtures.productID, "other"), ("\"half\"", "\"other\""),
            ("eyJ", "eyj"), ("AAAA\"", "\""), ("2000000123456789", "2000000123456780"),
            ("d3b07384", "d3b07385"), ("appAccountToken", "applicationUsername"), ("appAccountToken", "ignored"),
        ])
    func malformed(part: String, replacement: String) throws {
        let step = Fixtures.signed(1)
        let text = String(decoding: try step(.init(path: "", headers: [:], body: Data())).body, as: UTF8.self)
        // Only the first occurrence, so that values that must agree do not.
        let range = try #require(text.range(of: part))
        let changed = text.replacingCharacters(in: range, with: replacement)
        #expect(throws: (any Error).self) { try signed(Fixtures.answer(200, changed)) }
    }

    @Test("the service's hash of a username is the customer to attach")
    func hashedUsername() throws {
        let signed = try signed(
            Fixtures.signed(1, customer: #""applicationUsername":"9f86d081""#), for: .applicationUsername("jo"))
        #expect(signed.customer == .applicationUsername("9f86d081"))
        let user = try self.signed(Fixtures.signed(1), for: .signedInUser)
        #expect(user.customer == Fixtures.customer)
    }

    @Test("an HTTP date is read without the device's clock or locale")
    func dates() {
        #expect(ServerClock.seconds("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
        #expect(ServerClock.seconds("Fri, 27 Nov 2026 14:52:31 GMT") == 1_795_791_151)
        #expect(ServerClock.seconds("Thu, 29 Feb 2024 23:59:59 GMT") == 1_709_251_199)
        for text in ["", "Fri, 27 Nov 2026 14:52:31", "Fri, 27 Foo 2026 14:52:31 GMT", "Fri, 27 Nov 2026 25:52:31 GMT"]
        {
            #expect(ServerClock.seconds(text) == nil)
        }
    }

    @Test("the service's time goes on with the uptime, and never back")
    func clock() {
        var clock = ServerClock()
        #expect(clock.now(uptime: 5) == nil)
        clock.note(TransportAnswer(status: 200, headers: Fixtures.date, body: Data()), uptime: 100)
        #expect(clock.now(uptime: 102.5) == 1_767_225_602_500)
        #expect(clock.now(uptime: 1) == 1_767_225_600_000)
    }
}
