import AppStoreStandIn
import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import OutgoingHTTP
import TestSupport
import Testing

@testable import AppStoreAPI

@Suite("Tokens for the App Store Server API")
struct TokenTests {
    @Test("one token serves many requests; a rotation makes another, and no request gets 401")
    func rotation() async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        // A request that is repeated because the machine is busy could come after the revocation.
        try await fixture.withClient(limitScale: 20) { client in
            for round in 0..<20 {
                if round == 10 {
                    fixture.credentials = TokenCredentials(
                        ring: try StandInFixture.ring(fixture.keys, signing: StandInFixture.secondKey),
                        issuerIDs: fixture.issuerIDs)
                    // App Store Connect revokes the first key.
                    let second = try StandInFixture.secondKey
                    fixture.standIn.tokens.replace(keys: [second.description: try #require(fixture.keys[second])])
                }
                _ = try await client.send(.subscriptionStatuses(of: id), for: StandInFixture.app)
            }
            #expect(fixture.standIn.statistics.answers(401) == 0 && fixture.standIn.statistics.answers(200) == 20)
        }
    }

    @Test("requests that need a token at the same moment share one, and a failure too", arguments: [true, false])
    func sharing(isRecorded: Bool) async throws {
        let fixture = try await StandInFixture()
        let recorded = NIOLockedValueBox(0)
        let tokens = TokenSource(credentials: { fixture.credentials }, now: { Timestamp(Date()) }) { _ in
            recorded.withLockedValue { $0 += 1 }
            try? await Task.sleep(for: .milliseconds(200))
            return isRecorded
        }
        let texts = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<20 { group.addTask { try? await tokens.token(for: StandInFixture.app.bundleID) } }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(texts.count == 1 && (texts == [nil]) == !isRecorded)
        #expect(recorded.withLockedValue { $0 } == 1)
        await fixture.standIn.stop()
    }

    @Test("a token that is refused is renewed once, and then the failure is reported")
    func unauthorised() async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        fixture.standIn.tokens.replace(keys: [:])
        try await fixture.withClient { client in
            let failure = await #expect(throws: APIFailure.self) {
                try await client.send(.subscriptionStatuses(of: id), for: StandInFixture.app)
            }
            #expect(failure?.name == "unauthorised" && failure?.hint.contains("In-App Purchase key") == true)
            #expect(fixture.standIn.statistics.answers(401) == 2)
        }
    }

    /// Refuses every token at its own time.
    private struct RefusingServer: HTTPExchange {
        let date: String?

        func exchange(
            _ request: OutgoingRequest, within limit: Duration
        ) async throws(OutgoingFailure) -> IncomingResponse {
            IncomingResponse(status: 401, headers: date.map { [("Date", $0)] } ?? [])
        }
    }

    @Test(
        "a token that is refused by a clock a minute or more away blames this machine's clock",
        arguments: [
            ("Thu, 01 Jan 2026 00:02:00 GMT", "120 s behind"), ("Wed, 31 Dec 2025 23:59:00 GMT", "60 s ahead of"),
            ("Thu, 01 Jan 2026 00:01:00 GMT", "60 s behind"), ("Thu, 01 Jan 2026 00:00:59 GMT", nil),
            ("Wed, 31 Dec 2025 23:59:01 GMT", nil), ("yesterday", nil), ("", nil), (nil, nil),
        ] as [(String?, String?)])
    func clock(date: String?, expected: String?) async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        let client = AppStoreClient(
            hosts: APIHosts(production: "https://localhost", sandbox: "https://localhost"),
            tokens: TokenSource(
                credentials: { [credentials = fixture.credentials] in credentials }, now: { Fixtures.timestamp }),
            transport: RefusingServer(date: date), pacing: Pacing(now: { Fixtures.timestamp }))
        let failure = await #expect(throws: APIFailure.self) {
            try await client.send(.subscriptionStatuses(of: id), for: StandInFixture.app)
        }
        await fixture.standIn.stop()
        #expect(failure?.name == "unauthorised")
        #expect(failure.map { "\($0)".contains("clock") } == (expected != nil))
        if let expected {
            #expect(failure.map { "\($0)".contains(expected) } == true)
            #expect(failure?.hint.contains("set the clock") == true)
        } else {
            #expect(failure?.hint.contains("In-App Purchase key") == true)
        }
    }
}
