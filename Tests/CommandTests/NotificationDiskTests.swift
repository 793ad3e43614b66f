import AppStoreTestSupport
import Foundation
import OfferSQLite
import TestSupport
import Testing

/// The intake of notifications when the database or its disk fails. Offers without a rule go on.
@Suite("Notifications on failing disks", .serialized)
struct NotificationDiskTests {
    @Test("a full disk refuses notifications until there is space, and no longer")
    func diskFull() async throws {
        let disk = try SmallDisk(megabytes: 8)
        try disk.fill(megabytes: 6)
        let intake = try IntakeProcess(database: disk.path + "/store.sqlite")
        let service = try intake.start()
        let planned = IntakeProcess.plan(400)
        var count = 0
        while count < planned.count, try await accepts(planned[count], intake, service) { count += 1 }
        try #require(count > 0 && count < planned.count, "the disk did not fill up")
        try await expectFailure("its disk is full", of: intake, service, Array(planned.prefix(count + 1))) {
            try disk.free()
        }
    }

    @Test("a database that is locked by another process refuses notifications until it is free, and no longer")
    func locked() async throws {
        let intake = try IntakeProcess()
        let service = try intake.start()
        let planned = IntakeProcess.plan(2)
        #expect(try await accepts(planned[0], intake, service))
        let lock = try await onOwnThread { try DatabaseLock(intake.database) }
        try await expectFailure("the database is busy", of: intake, service, planned) { try lock.release() }
    }

    @Test("files that cannot be written refuse notifications until they can be, and no longer")
    func immutable() async throws {
        let intake = try IntakeProcess()
        let service = try intake.start()
        let planned = IntakeProcess.plan(2)
        #expect(try await accepts(planned[0], intake, service))
        let files = [intake.database, intake.database + "-wal"]
        #expect(try Command.run("chattr", ["+i"] + files).status == 0)
        defer { _ = try? Command.run("chattr", ["-i"] + files) }
        try await expectFailure("the database ", of: intake, service, planned) {
            let change = try Command.run("chattr", ["-i"] + files)
            #expect(change.status == 0)
        }
    }

    @Test("a service that starts on a read-only disk opens its database when it can be written")
    func readOnly() async throws {
        let disk = try SmallDisk(megabytes: 8)
        try disk.setReadOnly(true)
        let intake = try IntakeProcess(database: disk.path + "/store.sqlite")
        try await expectFailure("cannot be written", of: intake, intake.start(), IntakeProcess.plan(1)) {
            try disk.setReadOnly(false)
        }
    }

    @Test("a service whose database's folder is missing opens its database when the folder is there")
    func folderMissing() async throws {
        let folder = try TemporaryFolder()
        let missing = folder.path + "/disk"
        let intake = try IntakeProcess(database: missing + "/data/store.sqlite")
        try await expectFailure("cannot be reached", of: intake, intake.start(), IntakeProcess.plan(1)) {
            try FileManager.default.createDirectory(atPath: missing, withIntermediateDirectories: false)
        }
    }

    @Test("noise in a page refuses what needs the page, for as long as it is there")
    func noise() async throws {
        let intake = try IntakeProcess()
        let planned = IntakeProcess.plan(31)
        var service = try intake.start()
        for notification in planned.dropLast() { #expect(try await accepts(notification, intake, service)) }
        #expect(service.stop() == 0)
        let page = try SQLiteConnection(path: intake.database)
            .integers("SELECT rootpage FROM sqlite_schema WHERE name = 'notification'").first
        try overwrite(intake.database, page: UInt64(#require(page)))

        service = try intake.start()
        let damaged = service
        try await OfferProbe.whileOffersGoOn(on: service) {
            try await expectRefusal(of: planned[30], intake, damaged)
            try await expectHealth("degraded", damaged, problem: "is damaged")
            // A delivery that was stored before cannot be recognised either.
            try await expectRefusal(of: planned[0], intake, damaged)
            try await waitUntil { try damaged.log.contains("offer-signer database check") }
        }
        #expect(service.stop() == 0)
    }

    @Test("a service refuses to start with a database whose header is destroyed, and says what to do")
    func noiseInHeader() async throws {
        let intake = try IntakeProcess()
        #expect(try intake.start().stop() == 0)
        try overwrite(intake.database, page: 1)
        try expectRefusedStart(intake, "is damaged", hint: "restore a backup")
    }

    @Test("a service refuses to start with a database of a newer version, and leaves it alone")
    func newer() async throws {
        let intake = try IntakeProcess()
        #expect(try intake.start().stop() == 0)
        try SQLiteConnection(path: intake.database).execute("INSERT INTO migration VALUES (99, 'later', '')")
        let before = try Data(contentsOf: URL(filePath: intake.database))
        try expectRefusedStart(
            intake, "has version 99", hint: "start the newer version of the program, or restore a backup")
        #expect(try Data(contentsOf: URL(filePath: intake.database)) == before)
    }

    // MARK: Steps

    /// Expects the last notification to be refused until the repair, while offers go on, and all to be stored in the end.
    /// - Parameter planned: the notifications; all but the last are already stored.
    private func expectFailure(
        _ problem: String, of intake: IntakeProcess, _ service: RunningService, _ planned: [PlannedNotification],
        repair: @escaping @Sendable () throws -> Void
    ) async throws {
        let refused = try #require(planned.last)
        try await OfferProbe.whileOffersGoOn(on: service) {
            try await expectRefusal(of: refused, intake, service)
            try await expectHealth("degraded", service, problem: problem)
            try repair()
            try await expectRecovery(of: refused, intake, service)
        }
        #expect(service.stop() == 0)
        let stored = try await StoredIntake(path: intake.database)
        try stored.verify(acknowledged: planned.map(\.uuid), of: planned)
    }

    private func accepts(
        _ notification: PlannedNotification, _ intake: IntakeProcess, _ service: RunningService
    ) async throws -> Bool {
        try await intake.post(notification, to: service).status == 200
    }

    private func expectRefusal(
        of notification: PlannedNotification, _ intake: IntakeProcess, _ service: RunningService
    ) async throws {
        let response = try await intake.post(notification, to: service)
        #expect(response.status == 503, "\(response.text)")
        #expect(response.text.contains(#""code":"store_unavailable""#), "\(response.text)")
    }

    /// - Parameter problem: part of a problem that health and log report.
    private func expectHealth(_ state: String, _ service: RunningService, problem: String) async throws {
        try await waitUntil {
            let text = try await health(service)
            return text.contains(#""store":"\#(state)""#) && text.contains(problem)
        }
        try await waitUntil { try service.log.contains(problem) }
    }

    private func health(_ service: RunningService) async throws -> String {
        let response = try await service.get("/health/ready")
        #expect(response.status == 200)
        return response.text
    }

    /// Expects health to be good again without a request, and the notification that was refused to be new.
    private func expectRecovery(
        of notification: PlannedNotification, _ intake: IntakeProcess, _ service: RunningService
    ) async throws {
        try await waitUntil { try await health(service).contains(#""store":"ok""#) }
        let response = try await intake.post(notification, to: service)
        #expect(response.status == 200, "\(response.text)")
        #expect(response.text.contains(#""outcome":"stored""#), "nothing was stored when it was refused")
    }

    private func expectRefusedStart(_ intake: IntakeProcess, _ problem: String, hint: String) throws {
        let refusal = #expect(throws: RunningProgram.DidNotStart.self) { _ = try intake.start() }
        #expect(refusal?.log.contains(problem) == true, "\(refusal?.log ?? "")")
        #expect(refusal?.log.contains(hint) == true, "\(refusal?.log ?? "")")
    }

    /// - Parameter page: counted from 1, as SQLite does.
    private func overwrite(_ path: String, page: UInt64) throws {
        var random = SplitMix64(seed: page)
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: (page - 1) * 4096)
        try file.write(contentsOf: (0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) })
        try file.close()
    }
}
