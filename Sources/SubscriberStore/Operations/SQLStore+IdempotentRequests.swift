package import OfferCore

extension SQLStore {
    package func claim(
        _ claim: IdempotentRequest.Claim, at now: Timestamp, until end: Timestamp
    ) async throws(StoreError) -> IdempotentRequest.ClaimResult {
        try await write(.names([.keyed(claim.request)])) { db in
            try IdempotentRequestTable.claim(claim, at: now, until: end, db)
        }
    }

    package func keep(
        _ answer: IdempotentRequest.Answer, of claim: IdempotentRequest.Claim
    ) async throws(StoreError) -> Bool {
        try await write(.names([.keyed(claim.request)])) { db in
            try IdempotentRequestTable.keep(answer, of: claim, db)
        }
    }

    package func release(_ claim: IdempotentRequest.Claim) async throws(StoreError) {
        try await write(.names([.keyed(claim.request)])) { db in try IdempotentRequestTable.release(claim, db) }
    }

    package func pruneIdempotentRequests(before time: Timestamp, limit: Int) async throws(StoreError) -> Int {
        try await write(.nothing) { db in try IdempotentRequestTable.prune(before: time, limit: limit, db) }
    }
}
