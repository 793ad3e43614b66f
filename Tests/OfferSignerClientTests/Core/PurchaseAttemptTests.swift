import Foundation
import Testing

@testable import OfferSignerClient

@Suite struct PurchaseAttemptTests {
    private func signed() throws -> SignedOffer {
        let offer = Offer(
            productID: Fixtures.productID, offerID: "half", billingPlan: nil, placement: nil, session: UUID())
        let answer = try Fixtures.signed(1)(TransportRequest(path: "", headers: [:], body: Data()))
        return try JSONDecoder().decode(SigningAnswer.self, from: answer.body)
            .signed(offer, of: Fixtures.bundleID, for: Fixtures.customer, answeredAt: nil)
    }

    private func explanation(_ cause: OfferExplanation.Cause?, verifies: Bool = true) -> OfferExplanation {
        OfferExplanation(verifies: verifies, cause: cause, field: nil, text: "", warnings: [])
    }

    @Test("a signature without a defect is replaced at most twice")
    func atMostTwice() throws {
        var attempt = PurchaseAttempt()
        var signatures = 0
        while attempt.budget.take() {
            signatures += 1
            attempt.buy(with: try signed())
            guard attempt.rejected(explanation(nil)) else { break }
            #expect(attempt.state == .needsSignature)
        }
        #expect(signatures == 3)
        #expect(attempt.state == .failed)
    }

    // A signature can verify and have a cause, such as an `exp` claim in a JWS.
    @Test("a named cause ends the attempt: the next signature would have it too", arguments: [true, false])
    func namedCause(verifies: Bool) throws {
        var attempt = PurchaseAttempt()
        attempt.buy(with: try signed())
        let again = attempt.rejected(explanation(.letterCase, verifies: verifies))
        #expect(!again)
        #expect(attempt.state == .failed)
    }

    @Test("a signature that does not verify ends the attempt even without a cause")
    func doesNotVerify() throws {
        var attempt = PurchaseAttempt()
        attempt.buy(with: try signed())
        let again = attempt.rejected(explanation(nil, verifies: false))
        #expect(!again)
    }

    @Test("without an explanation, a new signature is tried")
    func unexplained() throws {
        var attempt = PurchaseAttempt()
        attempt.buy(with: try signed())
        let again = attempt.rejected(nil)
        #expect(again)
    }
}
