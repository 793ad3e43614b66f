import NIOConcurrencyHelpers
import NIOCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import SubscriberSync
import TestSupport
import Testing

@testable import OfferService

@Suite("Repeated requests for retention messages, and late answers")
struct RetentionRepeatTests {
    typealias Request = Retention.Request

    // MARK: Repetitions

    @Test("100 repetitions at the same time get one answer, and reserve once")
    func concurrent() async throws {
        let service = try await StoreService.retentionWithAutoRenewOff()
        let body = try Request().body()
        let responses = await withTaskGroup(of: HTTPResponse.self) { group in
            for _ in 0..<100 {
                group.addTask { [routes = service.routes] in
                    await routes.postLater("/v1/retention-messages", body)
                }
            }
            return await group.reduce(into: [HTTPResponse]()) { $0.append($1) }
        }
        #expect(responses.count == 100 && responses.allSatisfy { $0.status == 200 })
        #expect(Set(responses.map(\.text)).count == 1)
        #expect(try await service.authorisations(of: "1000").map(\.state) == [.outstanding])
        #expect(service.routes.scrape()["offer_signer_retention_repeats_total"] == 99)
        // Another request of the same customer is another one.
        #expect(try await service.message(Request(2)).text != responses[0].text)
        #expect(try await service.authorisations(of: "1000").count == 2)
    }

    @Test("a repetition gets the same answer although the rules would decide otherwise now")
    func changed() async throws {
        let service = try StoreService.retention()
        try await service.addSubscriber()
        let first = try await service.message()
        #expect(first.text == Retention.shown(5))
        try await service.addSubscriber(autoRenew: false, signed: 2)
        #expect(try await service.message().text == first.text)
        #expect(try await service.message(Request(2)).offerClaims != nil)
    }

    @Test(
        "after a restart, a repetition gets the same offer, signed again, and no second reservation",
        arguments: ["v1", "v2"])
    func restart(form: String) async throws {
        let cases = Retention.cases.replacing(
            "  promotionalOffer", with: "  signature: \(form)\n  promotionalOffer")
        let service = try await StoreService.retentionWithAutoRenewOff(cases)
        let first = try await service.message()
        let restarted = try service.restarted()
        let detachedWork = Task { try await restarted.detachedWork.run() }
        defer { detachedWork.cancel() }
        let again = await restarted.postLater("/v1/retention-messages", try Request().body())
        if form == "v1" {
            for name in ["nonce", "timestamp", "offerIdentifier", "productId", "keyId", "appAccountToken"] {
                #expect("\(first.offerV1?[name] ?? "-")" == "\(again.offerV1?[name] ?? "+")", "\(name)")
            }
        } else {
            for name in ["nonce", "iat", "transactionId", "offerIdentifier"] {
                #expect("\(first.offerClaims?[name] ?? "-")" == "\(again.offerClaims?[name] ?? "+")", "\(name)")
            }
        }
        #expect(try await service.authorisations(of: "1000").map(\.state) == [.outstanding])
    }

    @Test("ten minutes later, the identifier is forgotten")
    func forgotten() async throws {
        let service = try await StoreService.retentionWithAutoRenewOff()
        let first = try await service.message()
        let minutes = 11 * 60_000 / Double(86_400_000)
        service.setDay(10 + minutes)
        service.routes.advanceClock(by: .minutes(11))
        let later = try await service.message(Request(at: Sample.day(10 + minutes)))
        #expect(later.offerClaims != nil && later.text != first.text)
        #expect(try await service.authorisations(of: "1000").count == 2)
    }

    // MARK: Deadlines

    @Test("a store that makes no change in time: the last case is shown, and nothing stays reserved")
    func slowChanges() async throws {
        let service = try await StoreService.retentionWithAutoRenewOff(deadline: .seconds(1))
        try await service.occupy(for: .seconds(6))
        let response = try await service.message()
        #expect(response.text == Retention.shown(5))
        #expect(service.routes.scrape()["offer_signer_retention_deadline_misses_total"] == 1)
        // What was queued is reserved in the end, and taken back.
        try await service.store.probe()
        try await waitUntil { try await !service.authorisations(of: "1000").map(\.state).contains(.outstanding) }
        #expect(try await service.message().text == response.text, "a repetition")
    }

    @Test("what was reserved for an answer that is no longer wanted is taken back", arguments: 0...2)
    func withdrawal(openTimes: Int) async throws {
        let service = try await StoreService.retentionWithAutoRenewOff()
        let asked = NIOLockedValueBox(0)
        let answer = await service.answer(
            giving: RetentionAnswers.Claim(
                isOpen: {
                    asked.withLockedValue {
                        $0 += 1
                        return $0 <= openTimes
                    }
                }, settle: { _ in false }))
        #expect(answer == nil)
        #expect(try await service.authorisations(of: "1000").map(\.state) == (openTimes == 0 ? [] : [.withdrawn]))
        #expect(try await service.message().offerClaims != nil, "the offer is free for another request")
    }

    @Test("a store that reads nothing in time: the last case is shown, and nothing is reserved")
    func slowReads() async throws {
        let service = try await StoreService.retentionWithAutoRenewOff(deadline: .milliseconds(300))
        try await service.occupy(for: .seconds(4), readers: 4)
        #expect(try await service.message().text == Retention.shown(5))
        try await waitUntil { await service.routes.respondLater(Self.liveness).status == 200 }
        #expect(try await service.authorisations(of: "1000").isEmpty)
    }

    @Test("after the deadline, a last case with a rule shows nothing, and the next repetition tries again")
    func withoutFallback() async throws {
        let service = try StoreService.retention(
            "- {rule: retention, message: \(Retention.message(1))}", deadline: .seconds(1))
        try await service.addSubscriber(autoRenew: false)
        try await service.occupy(for: .seconds(4), readers: 4)
        let response = try await service.message()
        #expect(response.status == 503 && response.json["code"] as? String == "retention_message_unavailable")
        try await waitUntil { try await service.message().text == Retention.shown(1) }
    }

    @Test("health is degraded while more than one in fifty answers are no decisions, and ten minutes later no longer")
    func health() async throws {
        let service = try await StoreService.retentionWithAutoRenewOff(deadline: .milliseconds(50))
        func state() -> Bool {
            service.routes.retentionHealth.check()
            return service.routes.get("/health/ready").text.contains(#""retention":"degraded""#)
        }
        #expect(!state())
        try await service.occupy(for: .seconds(4), readers: 4)
        for number in 1...5 {
            #expect(!state(), "\(number)")
            #expect(try await service.message(Request(number)).text == Retention.shown(5))
        }
        #expect(state())
        service.routes.advanceClock(by: .minutes(11))
        #expect(!state())
    }

    @Test("without a database, the last case is shown at once")
    func withoutStore() async throws {
        let service = try StoreService.retention()
        service.current.note(StoreError(.unreachable, "for a test"))
        #expect(try await service.message().text == Retention.shown(5))
        let series = #"{app="com.example.app",environment="Production",answer="message",rule="",reason="store"}"#
        #expect(service.routes.scrape()["offer_signer_retention_answers_total" + series] == 1)
    }

    @Test("each answer that was to be kept for reports is counted, also if it is lost")
    func records() async throws {
        let service = try StoreService.retention()
        try await service.addSubscriber()
        func count(_ outcome: String) -> Double {
            service.routes.scrape()[#"offer_signer_retention_records_total{outcome="\#(outcome)"}"#] ?? 0
        }
        for number in 1...3 { _ = try await service.message(Request(number)) }
        // They are written after the answers.
        try await waitUntil { count("kept") == 3 }
        try service.store.close()
        #expect(try await service.message(Request(4)).text == Retention.shown(5))
        try await waitUntil { count("lost") == 1 }
        #expect(count("kept") == 3)
    }

    private static let liveness = HTTPRequest(method: "GET", target: "/health/live")
}
