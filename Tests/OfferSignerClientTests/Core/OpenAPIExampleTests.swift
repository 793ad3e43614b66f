import Foundation
import Testing

@testable import OfferSignerClient

/// Every example of an answer in openapi.json, on the routes that the client uses.
@Suite struct OpenAPIExampleTests {
    private let document: [String: Any]

    init() throws {
        let data = try Data(contentsOf: Locations.openAPI)
        document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    /// The `example` and the `examples` of a response, as JSON.
    private func examples(_ response: [String: Any]) throws -> [Data] {
        let content = response["content"] as? [String: [String: Any]] ?? [:]
        return try content.values.flatMap { media -> [Any] in
            let several = media["examples"] as? [String: [String: Any]] ?? [:]
            return several.values.compactMap { $0["value"] } + [media["example"]].compactMap { $0 }
        }.map { try JSONSerialization.data(withJSONObject: $0) }
    }

    private func answers(of path: String, _ status: String) throws -> [Data] {
        let route = try #require((document["paths"] as? [String: [String: [String: Any]]])?[path])
        return try route.values.flatMap { operation -> [Data] in
            let responses = operation["responses"] as? [String: [String: Any]] ?? [:]
            return try examples(try #require(responses[status]))
        }
    }

    private let offer = Offer(
        productID: Fixtures.productID, offerID: "retention_50off_3m", billingPlan: nil, placement: nil,
        session: UUID())

    @Test("the examples of /offer decode")
    func sample() throws {
        let examples = try answers(of: "/offer", "200")
        #expect(!examples.isEmpty)
        for example in examples {
            let signed = try JSONDecoder().decode(SampleAnswer.self, from: example)
                .signed(offer, for: Fixtures.customer)
            #expect(signed.signature?.keyID == "2X9R4HXF34")
        }
    }

    @Test("the examples of /v1/promotional-offers decode")
    func signing() throws {
        let examples = try answers(of: "/v1/promotional-offers", "200")
        #expect(!examples.isEmpty)
        for example in examples {
            let signed = try JSONDecoder().decode(SigningAnswer.self, from: example)
                .signed(
                    offer, of: Fixtures.bundleID, for: .applicationUsername("8d7f9a52c4e1"), answeredAt: 1_767_225_600)
            #expect(signed.secondsValid == 86_400)
        }
    }

    @Test("the examples of /v1/decisions decode")
    func decisions() throws {
        let examples = try answers(of: "/v1/decisions", "200")
        #expect(!examples.isEmpty)
        for example in examples {
            let list = try JSONDecoder().decode(DecisionAnswer.self, from: example).list(
                placement: nil, session: UUID())
            #expect(list.offers.map(\.offerID) == ["retention_50off_3m"])
            #expect(list.refused.first?.reasons == [RefusalReason(rawValue: "subscription_status")])
        }
    }

    @Test("the examples of /v1/explanations decode")
    func explanations() throws {
        let examples = try answers(of: "/v1/explanations", "200")
        #expect(!examples.isEmpty)
        for example in examples {
            #expect(
                try JSONDecoder().decode(ExplanationAnswer.self, from: example).value.cause?.rawValue == "separator")
        }
    }

    @Test("the example of every problem decodes and keeps its code")
    func problems() async throws {
        let components = try #require(document["components"] as? [String: Any])
        let responses = try #require(components["responses"] as? [String: [String: Any]])
        #expect(responses.count >= 10)
        for (name, response) in responses {
            let examples = try examples(response)
            #expect(!examples.isEmpty, "\(name)")
            for example in examples {
                let problem = try JSONDecoder().decode(ProblemAnswer.self, from: example)
                let client = await Fixtures.client(
                    ScriptedTransport({ _ in TransportAnswer(status: problem.status, headers: [:], body: example) }))
                let error = await failure { () async throws(OfferError) in try await client.offers() }
                // The client repeats 408, and the script is then over.
                #expect(error?.code.rawValue == (problem.status == 408 ? "no_answer" : problem.code), "\(name)")
            }
        }
    }
}
