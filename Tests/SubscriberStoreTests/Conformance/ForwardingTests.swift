import OfferCore
import StoreTestSupport
import SubscriberStore
import Testing

@Suite("A store forwards")
struct ForwardingTests {
    private static let receiver = "https://a.example/app-store"
    private static let other = "https://b.example/app-store"

    @Test(
        "notifications about one subscription are due one after the other, others at once", arguments: StoreEngine.all)
    func order(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await self.apply("n1", about: 1, store)
            try await self.apply("n2", about: 1, store)
            try await self.apply("n3", about: 2, store)
            let first = try await self.claim(store)
            #expect(self.names(first) == ["n1", "n3"])
            #expect(first.first?.body == Array("body of n1".utf8))
            #expect(first.first?.app == Sample.production && first.first?.receiver == Self.receiver)
            #expect(try await self.claim(store).isEmpty)
            try await store.settle(first[0].id, .delivered)
            #expect(try await self.names(self.claim(store)) == ["n2"])
        }
    }

    @Test("a failed attempt is repeated at its time, and keeps the next one waiting", arguments: StoreEngine.all)
    func retry(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await self.apply("n1", about: 1, store)
            try await self.apply("n2", about: 1, store)
            let first = try #require(try await self.claim(store).first)
            #expect(first.failures == 0)
            try await store.settle(first.id, .failed(nextAttempt: Sample.day(3)))
            #expect(try await self.claim(store, at: 2.9).isEmpty)
            let again = try await self.claim(store, at: 3)
            #expect(self.names(again) == ["n1"] && again.first?.failures == 1)
        }
    }

    @Test("a delivery without a report is due again when its lease ends", arguments: StoreEngine.all)
    func lease(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await self.apply("n1", about: 1, store)
            #expect(try await self.claim(store, at: 1, leaseEnd: 2).count == 1)
            #expect(try await self.claim(store, at: 1.9).isEmpty)
            #expect(try await self.names(self.claim(store, at: 2)) == ["n1"])
        }
    }

    @Test("a notification that is given up becomes a dead letter and lets the next one go", arguments: StoreEngine.all)
    func deadLetters(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for name in ["n1", "n2", "n3"] { try await self.apply(name, about: 1, store) }
            for day in [1.0, 2] {
                let forward = try #require(try await self.claim(store, at: day).first)
                try await store.settle(forward.id, .dead(at: Sample.day(day)))
                try await store.settle(forward.id, .delivered)
            }
            let letters = try await store.deadLetters(after: nil, limit: 1)
            #expect(self.names(letters.map(\.forward)) == ["n1"] && letters.first?.diedAt == Sample.day(1))
            #expect(letters.first?.forward.failures == 1)
            let rest = try await store.deadLetters(after: letters.first?.forward.id, limit: 9)
            #expect(self.names(rest.map(\.forward)) == ["n2"])
            #expect(try await self.names(self.claim(store, at: 3)) == ["n3"])
            let receiver = Receiver(url: Self.receiver, pending: 1, dead: 2, oldestPending: Sample.day(0))
            #expect(try await store.receivers() == [receiver])
        }
    }

    @Test(
        "the oldest of what waits for a receiver is given up, as far as it has waited for long",
        arguments: StoreEngine.all)
    func giveUp(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for number in 1...5 {
                _ = try await store.apply(
                    Sample.delivery(
                        "n\(number)", Sample.facts(1), received: Double(number), to: [Self.receiver, Self.other]))
            }
            func giveUp(limit: Int) async throws -> Int {
                try await store.giveUpForwards(
                    to: Self.receiver, receivedBefore: Sample.day(4), at: Sample.day(7), limit: limit)
            }
            #expect(try await giveUp(limit: 2) == 2)
            #expect(try await giveUp(limit: 2) == 1)
            #expect(try await giveUp(limit: 2) == 0)
            let letters = try await store.deadLetters(after: nil, limit: 9)
            #expect(self.names(letters.map(\.forward)) == ["n1", "n2", "n3"])
            #expect(letters.allSatisfy { $0.forward.receiver == Self.receiver && $0.diedAt == Sample.day(7) })
            #expect(try await self.names(self.claim(store, at: 8)) == ["n4"], "the next of the subscription is due")
            #expect(try await store.receivers().map { [$0.pending, $0.dead] } == [[2, 3], [5, 0]])
        }
    }

    @Test("dead letters that are revived are due again, in order per subscription", arguments: StoreEngine.all)
    func revival(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for name in ["n1", "n2"] { try await self.apply(name, about: 1, store) }
            try await self.apply("n3", about: 2, store)
            try await self.kill(3, store)
            try await self.apply("n4", about: 1, store)
            #expect(try await store.reviveDeadLetters(at: Sample.day(5)) == 3)
            #expect(try await store.deadLetters(after: nil, limit: 9).isEmpty)
            #expect(try await store.receivers().map { [$0.pending, $0.dead] } == [[4, 0]])
            let due = try await self.claim(store, at: 5)
            #expect(self.names(due).sorted() == ["n1", "n3"])
            #expect(due.allSatisfy { $0.failures == 0 })
            for forward in due { try await store.settle(forward.id, .delivered) }
            for name in ["n2", "n4"] {
                let next = try await self.claim(store, at: 6)
                #expect(self.names(next) == [name])
                for forward in next { try await store.settle(forward.id, .delivered) }
            }
            #expect(try await store.reviveDeadLetters(at: Sample.day(7)) == 0)
        }
    }

    @Test("each dead letter is revived once, also if there are many", arguments: StoreEngine.all)
    func revivalOfMany(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for number in 0..<1200 { try await self.apply("n\(number)", about: number, store) }
            try await self.kill(1200, store)
            #expect(try await store.reviveDeadLetters(at: Sample.day(5)) == 1200)
            #expect(try await store.receivers().map { [$0.pending, $0.dead] } == [[1200, 0]])
        }
    }

    private func kill(_ count: Int, _ store: any SubscriberStore) async throws {
        var killed = 0
        while killed < count {
            let forwards = try await self.claim(store, at: 3)
            try #require(!forwards.isEmpty)
            for forward in forwards { try await store.settle(forward.id, .dead(at: Sample.day(3))) }
            killed += forwards.count
        }
    }

    @Test("a receiver does not wait for another", arguments: StoreEngine.all)
    func independentReceivers(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for name in ["n1", "n2"] { try await self.apply(name, about: 1, store, to: [Self.receiver, Self.other]) }
            let first = try #require(try await self.claim(store, to: Self.other).first)
            try await store.settle(first.id, .delivered)
            #expect(try await self.names(self.claim(store, to: Self.other)) == ["n2"])
            #expect(try await self.names(self.claim(store)) == ["n1"])
            #expect(try await self.claim(store, to: "https://c.example").isEmpty)
            #expect(try await store.receivers().map(\.pending) == [2, 1])
        }
    }

    @Test("no more is claimed than asked for, oldest first", arguments: StoreEngine.all)
    func limit(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for number in 1...5 { try await self.apply("n\(number)", about: number, store, received: Double(-number)) }
            let claimed = try await store.claimForwards(
                to: Self.receiver, dueAt: Sample.day(0), leaseEnd: Sample.day(1), limit: 2)
            #expect(self.names(claimed) == ["n5", "n4"])
        }
    }

    private func apply(
        _ name: String, about number: Int, _ store: any SubscriberStore, to receivers: [String] = [receiver],
        received: Double = 0
    ) async throws {
        let facts = Sample.facts(number)
        let delivery = Sample.delivery(name, facts, received: received, to: receivers)
        #expect(try await store.apply(delivery) == .applied)
    }

    private func claim(
        _ store: any SubscriberStore, to receiver: String = receiver, at day: Double = 1, leaseEnd: Double = 9
    ) async throws -> [Forward] {
        try await store.claimForwards(
            to: receiver, dueAt: Sample.day(day), leaseEnd: Sample.day(leaseEnd), limit: 100)
    }

    private func names(_ forwards: [Forward]) -> [String] {
        forwards.map(\.contentID)
    }
}
