import OfferCore
import StoreTestSupport
import SubscriberStore
import Testing

@Suite("A store keeps raw payloads")
struct PayloadTests {
    @Test("raw payloads are listed page by page, as received", arguments: StoreEngine.all)
    func pages(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for number in 1...5 { _ = try await store.apply(Sample.delivery("n\(number)", Sample.facts(number))) }
            var bodies: [String] = []
            var last: StoredPayload.ID?
            while case let page = try await store.payloads(after: last, limit: 2), let end = page.last {
                #expect(page.count <= 2)
                bodies += page.map { String(decoding: $0.body, as: UTF8.self) }
                last = end.id
            }
            #expect(bodies == (1...5).map { "body of n\($0)" })
        }
    }

    @Test("old payloads are deleted in small steps, except those waiting to be forwarded", arguments: StoreEngine.all)
    func pruning(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let receiver = "https://a.example"
            for number in 0..<5 {
                let receivers = number == 1 ? [receiver] : []
                _ = try await store.apply(
                    Sample.delivery("n\(number)", Sample.facts(number), received: Double(number), to: receivers))
            }
            let limit = Sample.day(4)
            #expect(try await store.prunePayloads(receivedBefore: limit, limit: 2) == 2)
            #expect(try await store.prunePayloads(receivedBefore: limit, limit: 2) == 1)
            #expect(try await store.prunePayloads(receivedBefore: limit, limit: 2) == 0)
            let left = try await store.payloads(after: nil, limit: 9).map(\.notification.notificationUUID.description)
            #expect(left == ["n1", "n4"])
            #expect(try await store.customer(Sample.account(0)) != nil, "the facts stay")
            #expect(try await store.apply(Sample.delivery("n0", Sample.facts(0))) == .known)
            let forward = try #require(
                try await store.claimForwards(
                    to: receiver, dueAt: Sample.day(9), leaseEnd: Sample.day(10), limit: 1
                ).first)
            try await store.settle(forward.id, .dead(at: Sample.day(9)))
            #expect(try await store.prunePayloads(receivedBefore: limit, limit: 2) == 1)
            #expect(try await store.receivers().map(\.dead) == [0])
        }
    }
}
