import Foundation
import Testing

@testable import OfferSignerClient

@Suite struct ManyLostAnswersTests {
    /// Each customer loses this many requests or answers before one arrives.
    private static let lossesOfEach = 20
    private static let customers = 500

    @Test("after 10,000 lost requests and answers, nothing is reserved twice, and every customer is served")
    func tenThousand() async throws {
        let service = try RunningService()
        let signer = try RunningService.signer.get()
        let lost = Counter()
        let nonces = try await withThrowingTaskGroup(of: String?.self) { group in
            var nonces: [String] = []
            for number in 0..<Self.customers {
                if number >= 16 { nonces += [try await group.next()].compactMap { $0 ?? nil } }
                group.addTask {
                    // The same faults in each run, in another order for each customer.
                    let losses = Counter()
                    let transport = LosingTransport(port: service.port) {
                        let count = losses.all.count
                        guard count < Self.lossesOfEach else { return nil }
                        losses.add(1)
                        lost.add(1)
                        var random = SplitMix64(seed: UInt64(number * Self.lossesOfEach + count))
                        return LosingTransport.Loss.allCases.randomElement(using: &random)
                    }
                    let token = UUID()
                    let client = await Fixtures.client(transport, customer: .appAccountToken(token))
                    let offer = try await client.offer(productID: Fixtures.productID, offerID: "once")
                    return await LostAnswerTests.tap(client, offer, try signer.proofs(number, of: token))
                }
            }
            for try await nonce in group { nonces += [nonce].compactMap { $0 } }
            return nonces
        }
        #expect(lost.all.count == Self.lossesOfEach * Self.customers)
        // `once` allows one unused signature: a second reservation would have been refused.
        #expect(nonces.count == Self.customers && Set(nonces).count == Self.customers)
        #expect(service.signatures == Self.customers)
    }
}
