package import OfferCore

extension SQLStore {
    package func payloads(after: StoredPayload.ID?, limit: Int) async throws(StoreError) -> [StoredPayload] {
        try await read { try PayloadTable.page(after: after?.number ?? 0, limit: limit, $0) }
    }

    package func rederive(_ payloads: [RereadPayload]) async throws(StoreError) -> Int {
        try await write(.everything) { db in try payloads.reduce(0) { try $0 + FactRederivation.rederive($1, db) } }
    }

    package func prunePayloads(receivedBefore time: Timestamp, limit: Int) async throws(StoreError) -> Int {
        try await write(.names([.pruning])) { db in
            let payloads = try PayloadTable.disposable(receivedBefore: time, limit: limit, db)
            try db.overwriting {
                for payload in payloads { try PayloadTable.delete(payload, db) }
                try ForwardTable.deleteDeadEvents(before: time, limit: limit, db)
            }
            return payloads.count
        }
    }

    package func intakes() async throws(StoreError) -> [Intake] { try await read(AppTable.intakes) }

    package func receivers() async throws(StoreError) -> [Receiver] { try await read(ReceiverTable.all) }
}
