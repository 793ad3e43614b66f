import AppStoreAPI
import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import OfferTelemetry
import StoreTestSupport
import TestSupport
import Testing

@testable import SubscriberSync

@Suite("The failures of questions to the App Store")
struct SyncProblemsTests {
    @Test("one is shown until the question succeeds, the app is no longer asked about, or it is old")
    func life() {
        let readiness = Readiness()
        let time = NIOLockedValueBox(Sample.day(0))
        let problems = SyncProblems(
            readiness: readiness, now: { time.withLockedValue { $0 } }, log: RecordedLog().logger)
        func shown() -> Int { readiness.problems.count }
        for app in [Sample.production, Sample.sandbox] {
            problems.note(.api(.unauthorised(nil)), of: app, .recovery)
            problems.note(.api(.unauthorised(nil)), of: app, .polling)
        }
        problems.note(.api(.limited(until: .max)), of: Sample.production, .receipts)
        #expect(shown() == 4)
        problems.clear(of: Sample.production, .recovery)
        #expect(shown() == 3)
        problems.expire(of: Sample.production, .polling, notedBefore: Sample.day(0))
        #expect(shown() == 3)
        problems.expire(of: Sample.production, .polling, notedBefore: Sample.day(1))
        #expect(shown() == 2)
        problems.note(Diagnostic("it failed", hint: "wait"), of: Sample.production, .receipts)
        problems.keepOnly([Sample.production])
        #expect(shown() == 1)
        time.withLockedValue { $0 = Sample.day(0.05) }
        problems.keepOnly([Sample.production])
        #expect(shown() == 0)
    }
}

@Suite("Rounds of work for several apps")
struct AppRoundsTests {
    @Test("an app for which it takes forever delays no other, and has one round at a time")
    func independence() async throws {
        let counts = NIOLockedValueBox<[AppScope: Int]>([:])
        let task = Task {
            await AppRounds(every: .milliseconds(1)).run {
                [Sample.sandbox, Sample.production]
            } _: { app in
                counts.withLockedValue { $0[app, default: 0] += 1 }
                if app == Sample.sandbox { try? await Task.sleep(for: .seconds(3600)) }
            }
        }
        while counts.withLockedValue({ $0[Sample.production] ?? 0 }) < 10 {
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(counts.withLockedValue { $0[Sample.sandbox] } == 1)
        task.cancel()
        await task.value
    }

    @Test("when places are few, apps take turns")
    func turns() async throws {
        let order = NIOLockedValueBox<[AppScope]>([])
        let task = Task {
            await AppRounds(every: .milliseconds(1), places: 1).run {
                [Sample.sandbox, Sample.production]
            } _: { app in
                order.withLockedValue { $0.append(app) }
            }
        }
        while order.withLockedValue({ $0.count }) < 6 { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        await task.value
        let turn = [Sample.sandbox, Sample.production]
        #expect(order.withLockedValue { Array($0.prefix(6)) } == turn + turn + turn)
    }
}
