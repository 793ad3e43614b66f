import Foundation
import OfferCore
import OfferSQLite
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// The database commands as processes, over a database with notifications in it.
@Suite("offer-signer database", .timeLimit(.minutes(5)))
struct DatabaseTests {
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        try folder.write("apps: [{bundleID: com.example.app, products: []}]".utf8, to: "offers.yaml")
        let store = try open()
        for number in 0..<3 {
            let delivery = Sample.delivery(
                "uuid-\(number)", Sample.facts(number), to: ["https://backend.example/a?secret=b"])
            #expect(try await store.apply(delivery) == .applied)
        }
        try store.close()
    }

    private func open(_ name: String = "subscribers.sqlite") throws -> any SubscriberStore {
        try #require(StoreLocation("sqlite:\(folder.path)/\(name)")).open()
    }

    private func run(_ arguments: String..., database: String? = "subscribers.sqlite") throws -> Command.Outcome {
        try Command.runOfferSigner(["database"] + arguments, environment: environment(database), directory: folder.url)
    }

    private func environment(_ database: String?) -> [String: String] {
        var environment = ["SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml"]
        environment["SUBSCRIPTION_OFFERS_DATABASE"] = database.map { "sqlite:\($0)" }
        return environment
    }

    @Test("check lists what the database contains, without the secrets of receivers")
    func check() throws {
        let outcome = try run("check")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(
            outcome.standardOutput == """
                com.example.app Production: 3 notifications, 3 subscriptions, 0 erased
                receiver https://backend.example: 3 waiting, 0 given up
                19 records read
                ok: the database is sound

                """)
    }

    @Test("a damaged page is found, and the exit status is 1")
    func damage() throws {
        let path = folder.path + "/subscribers.sqlite"
        var bytes = try folder.read("subscribers.sqlite")
        for index in stride(from: 8192, to: bytes.count - 100, by: 4096) {
            for offset in 0..<64 { bytes[index + offset] = UInt8(truncatingIfNeeded: offset &* 37 &+ 11) }
        }
        try Data(bytes).write(to: URL(filePath: path))
        let outcome = try run("check")
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("error: the database is damaged"))
        #expect(outcome.standardError.contains("hint: "))
    }

    @Test(
        "no command makes an empty database at a misspelt path, except those that create one",
        arguments: ["check", "backup copy.sqlite", "export", "rebuild", "dead-letters", "migrate"])
    func missing(command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        let outcome = try Command.runOfferSigner(
            ["database"] + words + ["--database", "sqlite:other.sqlite"],
            environment: ["SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml"], directory: folder.url)
        let exists = FileManager.default.fileExists(atPath: folder.path + "/other.sqlite")
        #expect(exists == (command == "migrate"))
        #expect(outcome.status == (command == "migrate" ? 0 : 1))
        if !exists { #expect(outcome.standardError.contains("there is no database at sqlite:other.sqlite")) }
    }

    @Test("without a database, each command says how to name one")
    func none() throws {
        let outcome = try run("check", database: nil)
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("SUBSCRIPTION_OFFERS_DATABASE"))
    }

    @Test("a backup is whole, private, and never replaces a file")
    func backup() async throws {
        let outcome = try run("backup", "copy.sqlite")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/copy.sqlite")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let copy = try open("copy.sqlite")
        #expect(try await copy.intakes().map(\.notifications) == [3])
        try copy.close()
        let again = try run("backup", "copy.sqlite")
        #expect(again.status == 1)
        #expect(again.standardError.contains("cannot be copied to an existing file"), "\(again.standardError)")
        #expect(try await open("copy.sqlite").intakes().map(\.notifications) == [3])
    }

    @Test("an export and an import bring everything, and both can be repeated")
    func transfer() throws {
        let first = try run("export", "one.jsonl")
        #expect(first.status == 0 && first.standardError == "ok: 19 records\n")
        for _ in 0..<2 {
            let imported = try run("import", "one.jsonl", database: "new.sqlite")
            #expect(imported.status == 0 && imported.standardOutput == "ok: 19 records\n", "\(imported.standardError)")
        }
        let second = try run("export", database: "new.sqlite")
        #expect(try second.standardOutput == folder.text("one.jsonl"))
        #expect(try run("export", "one.jsonl").status == 1)
    }

    @Test("an export is never written through a link under its temporary name, and replaces what a broken one has left")
    func exportThroughLink() throws {
        try folder.write("precious".utf8, to: "precious")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/one.jsonl.partial", withDestinationPath: folder.path + "/precious")
        let refused = try run("export", "one.jsonl")
        #expect(refused.status == 1 && refused.standardError.contains("one.jsonl cannot be written"))
        #expect(try folder.read("precious") == Array("precious".utf8))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/one.jsonl"))
        try FileManager.default.removeItem(atPath: folder.path + "/one.jsonl.partial")
        try folder.write(Array(repeating: 0x78, count: 1_000_000), to: "one.jsonl.partial", mode: 0o644)
        #expect(try run("export", "one.jsonl").status == 0)
        #expect(try folder.read("one.jsonl").count < 1_000_000)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/one.jsonl")[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test("a damaged or cut-off export is refused with its line")
    func badImport() throws {
        #expect(try run("export", "one.jsonl").status == 0)
        var lines = try folder.text("one.jsonl").split(separator: "\n")
        lines[3] = "{\"record\":\"fact\"}"
        try folder.write(lines.joined(separator: "\n").utf8, to: "bad.jsonl")
        let bad = try run("import", "bad.jsonl", database: "new.sqlite")
        #expect(bad.status == 1)
        #expect(bad.standardError.contains("bad.jsonl, line 4"))
        try folder.write(lines.prefix(3).joined(separator: "\n").utf8, to: "cut.jsonl")
        #expect(try run("import", "cut.jsonl", database: "new.sqlite").standardError.contains("cut off"))
        #expect(try run("import", "absent.jsonl", database: "new.sqlite").status == 1)
    }

    @Test("what precedes the damage in a database can be saved with an export and an import")
    func salvage() throws {
        try damagePayloads()
        #expect(try run("export", "whole.jsonl").status == 1)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/whole.jsonl"))
        let part = try run("export")
        #expect(part.status == 1 && part.standardError.contains("error: the database is damaged"))
        try folder.write(part.standardOutput.utf8, to: "part.jsonl")
        let imported = try run("import", "part.jsonl", database: "new.sqlite")
        #expect(imported.status == 1 && imported.standardError.contains("is cut off after"))
        #expect(
            try run("check", database: "new.sqlite").standardOutput.contains(
                "com.example.app Production: 0 notifications, 3 subscriptions, 0 erased\n"))
    }

    /// Writes noise into the page of the raw payloads.
    private func damagePayloads() throws {
        let connection = try connect()
        let page = try connection.integers("SELECT rootpage FROM sqlite_schema WHERE name = 'payload'").first
        connection.close()
        var bytes = try folder.read("subscribers.sqlite")
        let start = (try Int(#require(page)) - 1) * 4096
        for offset in 0..<64 { bytes[start + offset] = UInt8(truncatingIfNeeded: offset &* 37 &+ 11) }
        try Data(bytes).write(to: folder.url.appending(path: "subscribers.sqlite"))
    }

    private func connect() throws -> SQLiteConnection {
        try SQLiteConnection(path: folder.path + "/subscribers.sqlite")
    }

    @Test("a full disk ends an export with an error about the export, not the database")
    func fullExport() throws {
        let outcome = try Command.run(
            "/bin/sh", ["-c", "exec '\(Command.offerSigner)' database export >/dev/full"],
            environment: environment("subscribers.sqlite"), directory: folder.url)
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("error: the export cannot be written"), "\(outcome.standardError)")
        #expect(!outcome.standardError.contains("ok:"))
    }

    @Test("migrate says from which version to which, and refuses a newer database without changing it")
    func migrate() throws {
        let latest = StoreLocation.sqlite(path: "").latestVersion
        #expect(
            try run("migrate", database: "new.sqlite").standardOutput
                == "ok: the database was created with version \(latest)\n")
        #expect(try run("migrate").standardOutput == "ok: the database has version \(latest), the latest\n")
        try setVersion(latest + 5)
        let before = try folder.read("subscribers.sqlite")
        let outcome = try run("migrate")
        #expect(outcome.status == 1)
        #expect(
            outcome.standardError.contains(
                "has version \(latest + 5), and this program supports versions up to \(latest)"))
        #expect(try folder.read("subscribers.sqlite") == before)
    }

    @Test("an older database is copied as it is, and nothing else opens it before it is migrated")
    func olderVersion() throws {
        let latest = StoreLocation.sqlite(path: "").latestVersion
        try setVersion(latest - 1)
        let before = try folder.read("subscribers.sqlite")
        for command in ["check", "export", "rebuild", "dead-letters"] {
            let outcome = try run(command)
            #expect(outcome.status == 1, "\(command)")
            let problem = "has version \(latest - 1), and this program uses version \(latest)"
            #expect(outcome.standardError.contains(problem))
            #expect(outcome.standardError.contains("hint: make a backup, then run offer-signer database migrate"))
        }
        #expect(try folder.read("subscribers.sqlite") == before)
        #expect(try run("backup", "copy.sqlite").status == 0)
        #expect(try run("check", database: "copy.sqlite").standardError.contains("has version \(latest - 1)"))
    }

    /// Pretends that an older or newer program has written the database last.
    private func setVersion(_ number: Int) throws {
        let connection = try connect()
        try connection.execute("DELETE FROM migration WHERE number > \(number)")
        guard number > StoreLocation.sqlite(path: "").latestVersion else { return }
        try connection.execute("INSERT INTO migration (number, name, applied_at) VALUES (\(number), 'later', '')")
    }

    @Test("a backup made while another process writes contains everything acknowledged before it began")
    func backupWhileWriting() async throws {
        let names = folder.url.appending(path: "acknowledged")
        try Data().write(to: names)
        let writer = Process()
        writer.executableURL = URL(filePath: Command.offerSigner).deletingLastPathComponent()
            .appending(path: "store-load")
        writer.arguments = [folder.path + "/subscribers.sqlite", "run"]
        writer.standardOutput = try FileHandle(forWritingTo: names)
        try writer.run()
        defer { writer.terminate() }
        func acknowledged() throws -> [String] {
            try String(contentsOf: names, encoding: .utf8).split(separator: "\n").map(String.init)
        }
        while writer.isRunning, try acknowledged().count < 200 { try await Task.sleep(for: .milliseconds(5)) }
        let before = try acknowledged()
        let outcome = try run("backup", "copy.sqlite")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(writer.isRunning)
        let check = try run("check", database: "copy.sqlite")
        #expect(check.status == 0, "\(check.standardError)")
        let copy = try SQLiteConnection(path: folder.path + "/copy.sqlite")
        let copied = try Set(copy.texts("SELECT notification_uuid FROM notification"))
        #expect(before.count >= 200 && copied.isSuperset(of: before))
    }

    @Test("doctor reads the version of the database without changing anything, and refuses what serve would refuse")
    func doctor() throws {
        let files = { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
        let (names, bytes) = (try files(), try folder.read("subscribers.sqlite"))
        func doctor(_ database: String) throws -> Command.Outcome {
            try Command.runOfferSigner(
                ["doctor", "--development", "--keys-dir", "."], environment: environment(database),
                directory: folder.url)
        }
        let found = try doctor("subscribers.sqlite")
        #expect(found.status == 0, "\(found.standardError)")
        #expect(found.standardOutput.contains("is sqlite:subscribers.sqlite; database check reads it\n"))
        #expect(try files() == names)
        #expect(try folder.read("subscribers.sqlite") == bytes)

        try folder.write([UInt8](repeating: UInt8(ascii: "x"), count: 5000), to: "text")
        let foreign = try doctor("text")
        #expect(foreign.status == 1 && foreign.standardError.contains("error: the database"))
        try setVersion(99)
        let newer = try doctor("subscribers.sqlite")
        #expect(newer.status == 1 && newer.standardError.contains("error: the database has version 99"))
        #expect(newer.standardError.contains("hint: start the newer version"))
    }

    @Test("doctor and check work while another process has the database open")
    func doctorBesideService() throws {
        let store = try open()
        defer { try? store.close() }
        let outcome = try Command.runOfferSigner(
            ["doctor", "--development", "--keys-dir", "."], environment: environment("subscribers.sqlite"),
            directory: folder.url)
        #expect(outcome.standardOutput.contains("is sqlite:subscribers.sqlite; database check reads it\n"))
        #expect(try run("check").status == 0)
    }

    @Test("rebuild names what it cannot read and leaves it alone")
    func rebuild() async throws {
        let outcome = try run("rebuild")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput == "ok: 0 notifications read, 3 skipped, 0 facts withdrawn\n")
        #expect(outcome.standardError.contains("skipped uuid-0: payload_unrecognised"))
        let store = try open()
        #expect(try await store.intakes().map(\.subscriptions) == [3])
        try store.close()
    }

    @Test("dead letters are listed without secrets, and --retry makes them due again")
    func deadLetters() async throws {
        let store = try open()
        let url = "https://backend.example/a?secret=b"
        let claimed = try await store.claimForwards(
            to: url, dueAt: Sample.day(1), leaseEnd: Sample.day(2), limit: 2)
        for forward in claimed { try await store.settle(forward.id, .dead(at: Sample.day(3))) }
        try store.close()
        let listed = try run("dead-letters")
        #expect(listed.standardOutput.split(separator: "\n").count == 2)
        #expect(listed.standardOutput.contains(" https://backend.example DID_RENEW uuid-0\n"))
        #expect(!listed.standardOutput.contains("secret"))
        #expect(try run("dead-letters", "--retry").standardOutput == "ok: 2 notifications are due again\n")
        #expect(try run("dead-letters").standardOutput == "")
        let again = try open()
        #expect(try await again.receivers().map(\.pending) == [3])
        try again.close()
    }
}

/// Runs the commands in docs/database.md.
@Suite("docs/database.md", .serialized, .timeLimit(.minutes(5)))
struct DatabasePageTests {
    @Test("each command of the page works on a database of its own")
    func commands() throws {
        let page = try Page()
        let blocks = try page.blocks.filter { !$0.contains("install ") }
        #expect(blocks.count == 5)
        let outcome = try page.run((["offer-signer database migrate"] + blocks).joined(separator: "\n"))
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.contains("ok: the backup in"))
    }

    @Test("a backup restored as the page says contains what it contained")
    func restore() async throws {
        let page = try Page()
        func apply(_ name: String) async throws {
            let store = try #require(StoreLocation("sqlite:\(page.folder.path)/data/offer-signer.sqlite")).open()
            #expect(try await store.apply(Sample.delivery(name, Sample.facts(1))) == .applied)
            try store.close()
        }
        try await apply("before")
        #expect(try page.run(try #require(page.blocks.first { $0.contains("database backup") })).status == 0)
        try await apply("after")
        #expect(try page.run("offer-signer database check").standardOutput.contains(": 2 notifications"))
        let restored = try page.run(try #require(page.blocks.first { $0.contains("install ") }))
        #expect(restored.status == 0, "\(restored.standardError)")
        #expect(restored.standardOutput.contains(": 1 notifications"))
        try await apply("after")
    }

    /// A folder in which the commands of the page are run.
    private struct Page {
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            try folder.write("apps: [{bundleID: com.example.app, products: []}]".utf8, to: "offers.yaml")
        }

        /// The paths on the page are in the folder.
        var blocks: [String] {
            get throws {
                try MarkdownBlock.all(in: "docs/database.md").filter { $0.language == "sh" }.map {
                    $0.text.replacing("/backups/", with: "\(folder.path)/")
                        .replacing("/var/lib/offer-signer/", with: "\(folder.path)/")
                }
            }
        }

        func run(_ script: String) throws -> Command.Outcome {
            let programs = URL(filePath: Command.offerSigner).deletingLastPathComponent().path
            return try Command.run(
                "/bin/sh", ["-ec", "PATH=\(programs):$PATH\n\(script)"],
                environment: [
                    "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
                    "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:data/offer-signer.sqlite",
                ], directory: folder.url)
        }
    }
}
