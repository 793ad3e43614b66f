import Foundation
import Testing

@testable import OfferSignerClient

/// The service accepts everything that the client sends.
@Suite struct AcceptedRequestTests {
    private struct Recording: OfferTransport {
        let transport: URLSessionTransport
        let statuses: Counter

        func send(_ request: TransportRequest) async throws -> TransportAnswer {
            let answer = try await transport.send(request)
            statuses.add(answer.status)
            if answer.status >= 300 {
                Issue.record("\(request.path) \(String(decoding: request.body + answer.body, as: UTF8.self))")
            }
            return answer
        }
    }

    @Test("every request of each kind of customer gets the answer for accepted ones")
    func everything() async throws {
        let service = try RunningService()
        let transport = Recording(transport: try service.transport(), statuses: Counter())
        let customers: [(OfferCustomer, DeviceProofs)] = [
            (.appAccountToken(Fixtures.token), try RunningService.signer.get().proofs(1, of: Fixtures.token)),
            (.applicationUsername("jö \"\\ \u{1F600}"), DeviceProofs(transactionID: "704000000001")),
            (.anonymous, .none),
        ]
        for (customer, proofs) in customers {
            let client = await Fixtures.client(transport, customer: customer)
            let list = try await client.offers(at: "cancel", of: [Fixtures.productID], proofs: proofs)
            let plain = try await client.offer(productID: Fixtures.productID, offerID: "plain")
            for event in [OfferEvent.shown, .dismissed] { await client.report(event, of: list.offers + [plain]) }
            let signed = try await client.sign(plain, proofs: proofs)
            for event in [OfferEvent.purchased, .pending, .failed] {
                await client.note(
                    event, of: signed, original: true,
                    error: event == .failed ? String(repeating: "é\n", count: 200) : nil)
            }
            await client.finishReporting()
            let explained = try await client.explain(signed, storeKitError: "invalidOfferSignature")
            #expect(explained.verifies)
            let sample = await Fixtures.client(transport, api: .sample, customer: customer)
            _ = try await sample.sign(try await sample.offer(productID: Fixtures.productID, offerID: "plain"))
        }
        // 3 customers with 6 requests besides events, and events that name a customer or a signature.
        #expect(transport.statuses.all.count >= 3 * 7)
    }

    @Test(
        "every request of a signed-in user gets the answer for accepted ones, and names the signed customer",
        arguments: ["appAccountToken: account", "applicationUsername: sub"])
    func signedInUser(claim: String) async throws {
        let provider = try IdentityProvider()
        let service = try RunningService(
            "users: [{issuer: '\(provider.issuer)', audience: offers, jwks: '\(provider.keySetPath)', \(claim)}]")
        let transport = Recording(transport: try service.transport(), statuses: Counter())
        let token = try provider.token(of: "jo", account: Fixtures.token, audience: "offers")
        let client = await Fixtures.client(transport, customer: .signedInUser, token: { token })
        let proofs = try RunningService.signer.get().proofs(1, of: Fixtures.token)
        let list = try await client.offers(at: "cancel", of: [Fixtures.productID], proofs: proofs)
        let plain = try await client.offer(productID: Fixtures.productID, offerID: "plain")
        for event in [OfferEvent.shown, .dismissed] { await client.report(event, of: list.offers + [plain]) }
        let signed = try await client.sign(plain, proofs: proofs)
        let customer = claim.hasSuffix("sub") ? .applicationUsername("jo") : Fixtures.customer
        #expect(signed.customer == customer)
        await client.note(.purchased, of: signed, original: true)
        await client.finishReporting()
        let sample = await Fixtures.client(transport, api: .sample, customer: .signedInUser, token: { token })
        let ofSample = try await sample.sign(try await sample.offer(productID: Fixtures.productID, offerID: "plain"))
        #expect(ofSample.customer == customer)
        #expect(transport.statuses.all == [200, 204, 204, 200, 204, 200])
        // Only callers may ask for explanations: docs/client.md says so.
        let withoutRecording = await Fixtures.client(
            try service.transport(), customer: .signedInUser, token: { token })
        let refused = await failure { () async throws(OfferError) in
            try await withoutRecording.explain(signed, storeKitError: "invalidOfferSignature")
        }
        #expect(refused?.code.rawValue == "scope_missing")
    }

    @Test("a proxy that keeps requests and answers until they are complete changes nothing")
    func bufferingProxy() async throws {
        let service = try RunningService()
        let proxy = FaultyProxy(to: service.port) { _ in .none }
        defer { proxy.stop() }
        let client = await Fixtures.client(try service.transport(port: proxy.port))
        let proofs = try RunningService.signer.get().proofs(1, of: Fixtures.token)
        let list = try await client.offers(proofs: proofs)
        #expect(try await client.sign(try #require(list.offers.first), proofs: proofs).compactJWS != nil)
    }
}
