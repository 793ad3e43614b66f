import AppStoreStandIn
import AppStoreTestSupport
import StoreTestSupport
import Testing

@testable import OfferConfiguration
@testable import SubscriberSync

@Suite("Notifications that never arrived")
struct RecoveryTests {
    @Test("trap 13: taking what could not be delivered does not remove it, so it is listed again and stored once")
    func onlyFailures() async throws {
        var posting = Poster.Settings()
        posting.lost = 0.5
        let service = try await SimulatedService(customers: 20, posting: posting)
        try service.start()
        for _ in 0..<48 { await service.pass(3600, recovers: false) }
        let world = service.standIn.production
        let missing = world.notifications(from: .min, until: .max).filter { !$0.wasReceived }.count
        let before = try await service.received(in: Sample.production)
        #expect(missing > 5 && before.notifications > 5)
        #expect(before.notifications + missing == world.notificationCount)

        let first = try await service.recoverFailures(in: Sample.production)
        #expect(first?.listed == missing && first?.recovered == missing)
        let second = try await service.recoverFailures(in: Sample.production)
        #expect(second?.listed == missing && second?.recovered == 0)
        let after = try await service.received(in: Sample.production)
        #expect(after.notifications == world.notificationCount)
        #expect(after.checkpoint == nil, "the whole history has not been read")
        try await service.end()
    }

    @Test("what names no app is refused by a service with several, and stored once the history of its app has it")
    func unnamed() async throws {
        let service = try await SimulatedService(customers: 120, posting: Poster.Settings(), hasOtherApp: true)
        try service.start()
        let world = service.standIn.production
        func missing() -> Int { world.notifications(from: .min, until: .max).filter { !$0.wasReceived }.count }
        for _ in 0..<400 where missing() == 0 { await service.pass(3600, recovers: false) }
        let refused = missing()
        let before = try await service.received(in: Sample.production)
        #expect(refused > 0 && before.notifications + refused == world.notificationCount)
        for recovered in [refused, 0] {
            #expect(try await service.recoverFailures(in: Sample.production)?.recovered == recovered)
            #expect(try await service.received(in: Sample.production).notifications == world.notificationCount)
        }
        try await service.end()
    }
}
