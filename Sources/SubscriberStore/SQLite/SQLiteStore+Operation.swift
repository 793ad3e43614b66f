import GRDB
package import OfferCore
import OfferFiles
import SystemPackage

extension SQLiteStore {
    package func payloads(after: StoredPayload.ID?, limit: Int) async throws(StoreError) -> [StoredPayload] {
        try await read { try PayloadTable.page(after: after?.number ?? 0, limit: limit, $0) }
    }

    package func rederive(_ payloads: [RereadPayload]) async throws(StoreError) -> Int {
        try await writer.write { db in try payloads.reduce(0) { try $0 + FactRederivation.rederive($1, db) } }
    }

    package func prunePayloads(receivedBefore time: Timestamp, limit: Int) async throws(StoreError) -> Int {
        try await writer.write { db in
            let payloads = try PayloadTable.disposable(receivedBefore: time, limit: limit, db)
            for payload in payloads { try PayloadTable.delete(payload, db) }
            return payloads.count
        }
    }

    package func intakes() async throws(StoreError) -> [Intake] { try await read(AppTable.intakes) }

    package func receivers() async throws(StoreError) -> [Receiver] { try await read(ReceiverTable.all) }

    package func probe() async throws(StoreError) {
        // A page can still find a place where a notification finds none.
        let space = FileSystem.freeSpace(at: FilePath(pool.path).folder) ?? .max
        guard space >= Self.neededSpace else {
            throw StoreError(.diskFull, "only \(space) bytes are free")
        }
        // Rewrites the first page of the file.
        try await writer.write { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
    }

    /// The changes of a busy second, with their indexes.
    private static let neededSpace = 1 << 20

    package func check() async throws(StoreError) -> [String] { try await read(Self.faults) }

    static func faults(_ db: Database) throws -> [String] {
        let faults = try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        let orphans = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { row in
            "a row of \(row[0] as String) refers to a row of \(row[2] as String) that does not exist"
        }
        return faults + orphans
    }
}
