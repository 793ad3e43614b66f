import Foundation
import Testing

@testable import OfferSignerClient

@Suite struct OfferClientTests {
    private func offer(_ client: OfferClient) async throws -> Offer {
        try await client.offer(productID: Fixtures.productID, offerID: "half")
    }

    // MARK: Lists

    @Test("a list is requested without signatures")
    func list() async throws {
        let transport = ScriptedTransport(Fixtures.list("half", "third", plan: "MONTHLY"))
        let client = await Fixtures.client(transport)
        let list = try await client.offers(at: "cancel", of: [Fixtures.productID])
        #expect(list.offers.map(\.offerID) == ["half", "third"])
        #expect(list.offers.first?.billingPlan == .monthly)
        let sent = try #require(transport.requests.first)
        #expect(sent.path == "v1/decisions")
        #expect(sent.json["sign"] as? Bool == false)
        #expect(sent.json["placement"] as? String == "cancel")
        #expect(sent.json["appAccountToken"] as? String == Fixtures.token.uuidString.lowercased())
        #expect(sent.json["proofs"] == nil && sent.json["applicationUsername"] == nil)
    }

    @Test("the token is asked for each request")
    func token() async throws {
        let tokens = Counter()
        let transport = ScriptedTransport(Fixtures.list(), Fixtures.list())
        let client = await Fixtures.client(
            transport,
            token: {
                tokens.add(1)
                return "t\(tokens.all.count)"
            })
        _ = try await client.offers()
        _ = try await client.offers()
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer t1", "Bearer t2"])
    }

    @Test("an unknown problem keeps its code, its reasons and its request ID")
    func problem() async throws {
        let more = #","field":"f","reasons":[{"code":"outstanding"},{"code":"of_tomorrow"}]"#
        let client = await Fixtures.client(ScriptedTransport(Fixtures.problem(422, "of_tomorrow", more)))
        let error = await failure { () async throws(OfferError) in try await client.offers() }
        #expect(error?.code.rawValue == "of_tomorrow")
        #expect(error?.reasons == [.outstanding, RefusalReason(rawValue: "of_tomorrow")])
        #expect(error?.field == "f" && error?.requestID == "R" && error?.status == 422)
    }

    // MARK: Repeated requests

    @Test("a lost answer is requested again under the same key and with the same bytes, at most twice")
    func lostAnswers() async throws {
        let transport = ScriptedTransport(Fixtures.lost, Fixtures.lost, Fixtures.signed(1))
        let client = await Fixtures.client(transport)
        let signed = try await client.sign(offer(client))
        #expect(signed.signature?.nonce == Fixtures.nonce(1))
        #expect(Set(transport.requests).count == 1 && transport.requests.count == 3)
    }

    @Test("the next tap repeats a request whose outcome is unknown")
    func nextTap() async throws {
        let transport = ScriptedTransport(
            Fixtures.lost, Fixtures.lost, Fixtures.lost, Fixtures.signed(1), Fixtures.signed(2))
        let client = await Fixtures.client(transport)
        let offer = try await offer(client)
        let error = await failure { () async throws(OfferError) in try await client.sign(offer) }
        #expect(error?.code == .noAnswer)
        // Even with other proofs, as StoreKit signs them anew.
        _ = try await client.sign(offer, proofs: DeviceProofs(signedTransactions: ["other"]))
        #expect(Set(transport.requests).count == 1 && transport.requests.count == 4)
        _ = try await client.sign(offer)
        #expect(Set(transport.keys(to: "v1/promotional-offers")).count == 2)
    }

    @Test(
        "an answer of a gateway leaves the outcome unknown",
        arguments: [
            Fixtures.answer(502, "<html>"), Fixtures.answer(504, ""), Fixtures.answer(503, "{}"),
            Fixtures.problem(408, "request_timeout"),
        ] as [ScriptedTransport.Step])
    func gateway(step: @escaping ScriptedTransport.Step) async throws {
        let transport = ScriptedTransport(step, Fixtures.signed(1))
        let client = await Fixtures.client(transport)
        _ = try await client.sign(offer(client))
        #expect(Set(transport.requests).count == 1 && transport.requests.count == 2)
    }

    @Test("a page of a captive portal is not taken for an answer, and the request is repeated at the next tap")
    func captivePortal() async throws {
        let transport = ScriptedTransport(Fixtures.answer(200, "<html>"), Fixtures.signed(1))
        let client = await Fixtures.client(transport)
        let offer = try await offer(client)
        let error = await failure { () async throws(OfferError) in try await client.sign(offer) }
        #expect(error?.code == .unreadableAnswer)
        _ = try await client.sign(offer)
        #expect(Set(transport.keys(to: "v1/promotional-offers")).count == 1)
    }

    @Test("a short Retry-After is waited for; a long one is the app's to decide")
    func retryAfter() async throws {
        let waits = Counter()
        let busy = Fixtures.problem(503, "overloaded", headers: ["retry-after": "2"])
        let transport = ScriptedTransport(busy, Fixtures.signed(1))
        let client = await Fixtures.client(transport, waits: waits)
        _ = try await client.sign(offer(client))
        #expect(waits.all == [2])
        transport.then(Fixtures.problem(429, "rate_limited", headers: ["Retry-After": "60"]))
        let offer = try await offer(client)
        let error = await failure { () async throws(OfferError) in try await client.sign(offer) }
        #expect(error?.code == .rateLimited && error?.retryAfter == 60 && waits.all == [2])
    }

    @Test("a refusal is not repeated, and the next tap has a new key")
    func refusal() async throws {
        let transport = ScriptedTransport(Fixtures.problem(422, "not_eligible"), Fixtures.signed(1))
        let client = await Fixtures.client(transport)
        let offer = try await offer(client)
        let error = await failure { () async throws(OfferError) in try await client.sign(offer) }
        #expect(error?.code == .notEligible && transport.requests.count == 1)
        _ = try await client.sign(offer)
        #expect(Set(transport.keys(to: "v1/promotional-offers")).count == 2)
    }

    @Test(
        "a problem that any request would meet says nothing about a lost answer, so the next tap repeats the request",
        arguments: [(401, "credentials_refused"), (429, "rate_limited"), (503, "overloaded")])
    func refusedAfterALostAnswer(status: Int, code: String) async throws {
        let transport = ScriptedTransport(Fixtures.lost, Fixtures.problem(status, code), Fixtures.signed(1))
        let client = await Fixtures.client(transport)
        let offer = try await offer(client)
        let error = await failure { () async throws(OfferError) in try await client.sign(offer) }
        #expect(error?.code.rawValue == code)
        _ = try await client.sign(offer)
        #expect(Set(transport.requests).count == 1 && transport.requests.count == 3)
    }

    @Test("an insecure connection is not tried again")
    func notSecure() async throws {
        let transport = ScriptedTransport({ _ in throw TransportFailure(.notSecure, "certificate") })
        let client = await Fixtures.client(transport)
        let error = await failure { () async throws(OfferError) in try await client.offers() }
        #expect(error?.code == .notSecure && transport.requests.count == 1)
    }

    // MARK: Customers

    @Test("an offer of another customer is refused before anything is sent")
    func anotherCustomer() async throws {
        let transport = ScriptedTransport(Fixtures.list("half"))
        let client = await Fixtures.client(transport)
        let list = try await client.offers()
        let first = try #require(list.offers.first)
        await client.signIn(.appAccountToken(UUID()))
        let error = await failure { () async throws(OfferError) in try await client.sign(first) }
        #expect(error?.code == .anotherSession && transport.requests.count == 1)
        // Nor after the first customer has come back.
        await client.signOut()
        let out = await failure { () async throws(OfferError) in try await client.offers() }
        #expect(out?.code == .signedOut)
        await client.signIn(Fixtures.customer)
        let back = await failure { () async throws(OfferError) in try await client.sign(first) }
        #expect(back?.code == .anotherSession && transport.requests.count == 1)
    }

    @Test("a sign-out during a request drops its answer, and the next customer has another key")
    func signOutMeanwhile() async throws {
        let transport = GatedTransport()
        let client = await Fixtures.client(transport)
        let offer = try await offer(client)
        async let signing = failure { () async throws(OfferError) in try await client.sign(offer) }
        await transport.waitForRequest()
        await client.signIn(.appAccountToken(UUID()))
        await transport.open(try Fixtures.signed(1)(.init(path: "", headers: [:], body: Data())))
        #expect(await signing?.code == .signedOut)
    }

    @Test("a double tap requests one signature")
    func doubleTap() async throws {
        let transport = GatedTransport()
        let client = await Fixtures.client(transport)
        let offer = try await offer(client)
        async let first = client.sign(offer)
        await transport.waitForRequest()
        let second = await failure { () async throws(OfferError) in try await client.sign(offer) }
        #expect(second?.code == .inProgress)
        await transport.open(try Fixtures.signed(1)(.init(path: "", headers: [:], body: Data())))
        #expect(try await first.signature?.nonce == Fixtures.nonce(1))
    }

    // MARK: Events

    @Test("events go out in one batch with the service's time, and wait for the next report if no answer arrives")
    func events() async throws {
        let transport = ScriptedTransport(
            Fixtures.list("half", "third"), Fixtures.lost, Fixtures.lost, Fixtures.lost, Fixtures.noContent)
        let client = await Fixtures.client(transport)
        let list = try await client.offers()
        await client.report(.shown, of: list.offers)
        await client.report(.dismissed, of: Array(list.offers.prefix(1)))
        let sent = transport.requests(to: "v1/offers/events")
        #expect(sent.count == 4)
        let last = try #require(sent.last?.json["events"] as? [[String: Any]])
        #expect(last.map { $0["event"] as? String } == ["shown", "shown", "dismissed"])
        #expect(last.allSatisfy { $0["at"] as? Int == 1_767_225_600_000 })
        #expect(sent.last?.json["environment"] as? String == "Production")
        // Delivered events are gone.
        transport.then(Fixtures.noContent)
        await client.report(.shown, of: Array(list.offers.prefix(1)))
        #expect((transport.requests.last?.json["events"] as? [Any])?.count == 1)
    }

    @Test("refused events are dropped, and a sign-out drops those that wait")
    func droppedEvents() async throws {
        let transport = ScriptedTransport(
            Fixtures.list("half"), Fixtures.problem(403, "app_not_served"), Fixtures.noContent)
        let client = await Fixtures.client(transport)
        let offers = try await client.offers().offers
        await client.report(.shown, of: offers)
        await client.report(.dismissed, of: offers)
        #expect((transport.requests.last?.json["events"] as? [Any])?.count == 1)
        // This one gets no answer and waits.
        await client.report(.dismissed, of: offers)
        await client.signIn(.appAccountToken(UUID()))
        transport.then(Fixtures.list("third"), Fixtures.noContent)
        await client.report(.shown, of: offers)
        await client.report(.shown, of: try await client.offers().offers)
        let last = try #require(transport.requests.last?.json["events"] as? [[String: Any]])
        #expect(last.map { $0["offerID"] as? String } == ["third"])
    }

    // MARK: Apple's sample

    @Test("the route of Apple's sample is enough to sign")
    func sample() async throws {
        let transport = ScriptedTransport(Fixtures.answer(200, Fixtures.v1(1)))
        let client = await Fixtures.client(transport, api: .sample)
        let offer = try await offer(client)
        let signed = try await client.sign(offer)
        #expect(signed.signature?.nonce == Fixtures.nonce(1) && signed.customer == Fixtures.customer)
        let sent = try #require(transport.requests.first)
        #expect(sent.path == "offer" && sent.json["productIdentifier"] as? String == Fixtures.productID)
        await client.report(.shown, of: [offer])
        let error = await failure { () async throws(OfferError) in try await client.offers() }
        #expect(error?.code == .notSupported && transport.requests.count == 1)
    }

    @Test("an error that a copy of the sample sends with status 200 is not taken for a signature")
    func sampleError() async throws {
        let transport = ScriptedTransport(
            Fixtures.answer(200, #"{"error":"BadRequest","code":400,"message":"Missing data"}"#))
        let client = await Fixtures.client(transport, api: .sample)
        let offer = try await offer(client)
        let error = await failure { () async throws(OfferError) in try await client.sign(offer) }
        #expect(error?.code == .unreadableAnswer)
    }
}

/// Holds its one request until the test opens it.
actor GatedTransport: OfferTransport {
    private var waiting: CheckedContinuation<TransportAnswer, Never>?
    private var arrival: CheckedContinuation<Void, Never>?

    func send(_ request: TransportRequest) async throws -> TransportAnswer {
        await withCheckedContinuation { continuation in
            waiting = continuation
            arrival?.resume()
            arrival = nil
        }
    }

    func waitForRequest() async {
        guard waiting == nil else { return }
        await withCheckedContinuation { arrival = $0 }
    }

    func open(_ answer: TransportAnswer) {
        waiting?.resume(returning: answer)
        waiting = nil
    }
}
