import Foundation
import TestSupport
import Testing

/// The intake of notifications when the service ends under load.
@Suite("Notifications survive the end of the service", .serialized)
struct NotificationCrashTests {
    /// `NOTIFICATION_KILLS` asks for more, as `scripts/soak crash` does.
    private static let kills = ProcessInfo.processInfo.environment["NOTIFICATION_KILLS"].flatMap { Int($0) } ?? 5

    @Test("after each kill -9 under load, every notification with 200 is there, whole and once")
    func kills() async throws {
        let intake = try IntakeProcess()
        var random = SplitMix64(seed: 18)
        for round in 0..<Self.kills {
            // Each second run begins by sending what the one before has sent.
            let (seed, count) = (UInt64(round / 2), Int.random(in: 1...100, using: &random))
            let new = try await onOwnThread { try kill(intake, seed: seed, after: count) }
            #expect(new >= count, "round \(round): the load ended before the kill")
            // In other rounds, the service itself recovers the database.
            if round % 3 == 2 || round == Self.kills - 1 { try await verify(intake, seeds: 0...seed) }
        }
    }

    /// Kills the service after a number of acknowledgements.
    /// - Returns: the number that there were in the end.
    private func kill(_ intake: IntakeProcess, seed: UInt64, after count: Int) throws -> Int {
        let before = intake.acknowledged().count
        let service = try intake.start()
        let load = try intake.startLoad(on: service, seed: seed)
        while load.isRunning, intake.acknowledged().count < before + count { usleep(1000) }
        service.killAtOnce()
        load.waitUntilExit()
        #expect(try intake.refusals(ofLoad: seed) == [:])
        return intake.acknowledged().count - before
    }

    @Test("SIGTERM under load ends the service with status 0, and every notification with 200 is there")
    func terminate() async throws {
        let intake = try IntakeProcess()
        for seed in 0..<2 as Range<UInt64> {
            let status = try await onOwnThread {
                let before = intake.acknowledged().count
                let service = try intake.start()
                let load = try intake.startLoad(on: service, seed: seed)
                while load.isRunning, intake.acknowledged().count < before + 40 { usleep(1000) }
                let status = service.stop()
                load.waitUntilExit()
                return status
            }
            #expect(status == 0)
            #expect(try Set(intake.refusals(ofLoad: seed).keys).isSubset(of: ["503"]))
            let log = try? FileManager.default.attributesOfItem(atPath: intake.database + "-wal")[.size] as? Int
            #expect((log ?? 0) == 0, "the write-ahead log is empty after an orderly end")
            try await verify(intake, seeds: 0...seed)
        }
    }

    private func verify(_ intake: IntakeProcess, seeds: ClosedRange<UInt64>) async throws {
        let planned = seeds.flatMap { IntakeProcess.plan(1000, seed: $0) }
        try await StoredIntake(path: intake.database).verify(acknowledged: intake.acknowledged(), of: planned)
    }
}
