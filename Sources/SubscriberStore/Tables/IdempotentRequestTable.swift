import OfferCore
import OfferEligibility

/// The requests with an `Idempotency-Key`, with their answers and what they reserved.
enum IdempotentRequestTable {
    static func claim(
        _ claim: IdempotentRequest.Claim, at now: Timestamp, until end: Timestamp, _ db: any Database
    ) throws -> IdempotentRequest.ClaimResult {
        let (request, owner) = (claim.request, claim.owner.description)
        let isNew = try db.change(
            """
            INSERT INTO idempotent_request (id, digest, owner, at, claimed_until, reserved)
            VALUES (?, ?, ?, ?, ?, '') ON CONFLICT DO NOTHING
            """, [request.id, request.digest, owner, now.milliseconds, end.milliseconds])
        guard isNew == 0 else { return .granted }
        let row = try db.row("SELECT * FROM idempotent_request WHERE id = ?", [request.id])
        // The row was released in the meantime.
        guard let row else { return .inProgress }
        let isOver = try row.requiredTime("at") <= now - IdempotentRequest.time
        let status: Int? = try row["status"]
        guard try isOver || row["digest"] == request.digest else { return .keyReused }
        if !isOver, let status {
            return .answered(IdempotentRequest.Answer(status: status, body: try row["body"]))
        }
        // The change is being repeated, because its first outcome was unknown.
        guard try row["owner"] != owner else { return .granted }
        guard try status != nil || row.requiredTime("claimed_until") <= now else { return .inProgress }
        let isTaken = try db.change(
            """
            UPDATE idempotent_request SET owner = ?1, digest = ?2, at = ?3, claimed_until = ?4, status = NULL, body = NULL
            WHERE id = ?5 AND owner = ?6
            """,
            [
                owner, request.digest, now.milliseconds, end.milliseconds, request.id, try row["owner"] as String,
            ])
        guard isTaken == 1 else { return .inProgress }
        // An answer that was kept may have been sent, so what it reserved stays.
        if status == nil { try withdraw(from: request, db) }
        try db.send("UPDATE idempotent_request SET reserved = '' WHERE id = ?", [request.id])
        return status == nil ? .takenOver : .granted
    }

    /// Notes signatures before they are reserved.
    /// - Returns: false if the claim was taken over.
    static func note(
        _ nonces: [Nonce], _ app: Int64, under claim: IdempotentRequest.Claim, _ db: any Database
    ) throws -> Bool {
        let text = nonces.map { "\(app) \($0)\n" }.joined()
        return try db.change(
            """
            UPDATE idempotent_request SET reserved = reserved || ? WHERE id = ? AND owner = ? AND status IS NULL
            """, [text, claim.request.id, claim.owner.description]) == 1
    }

    /// - Returns: false if the claim was taken over.
    static func keep(
        _ answer: IdempotentRequest.Answer, of claim: IdempotentRequest.Claim, _ db: any Database
    ) throws -> Bool {
        try db.change(
            "UPDATE idempotent_request SET status = ?, body = ? WHERE id = ? AND owner = ?",
            [answer.status, answer.body, claim.request.id, claim.owner.description]) == 1
    }

    /// Withdraws what was reserved under a claim, and forgets the request. A kept answer stays, because a repeated request
    /// may have received it.
    static func release(_ claim: IdempotentRequest.Claim, _ db: any Database) throws {
        let (id, owner) = (claim.request.id, claim.owner.description)
        // The update locks the row. If the claim was taken over, the reservations were withdrawn.
        let isHeld = try db.change(
            "UPDATE idempotent_request SET claimed_until = 0 WHERE id = ? AND owner = ? AND status IS NULL",
            [id, owner])
        guard isHeld == 1 else { return }
        try withdraw(from: claim.request, db)
        try db.send("DELETE FROM idempotent_request WHERE id = ? AND owner = ?", [id, owner])
    }

    private static func withdraw(from request: IdempotentRequest, _ db: any Database) throws {
        let row = try db.row("SELECT reserved FROM idempotent_request WHERE id = ?", [request.id])
        let reserved: String = try row?["reserved"] ?? ""
        for line in reserved.split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let app = Int64(parts[0]), let nonce = try? Nonce(utf8: Array(parts[1].utf8)) else {
                throw StoreError.unreadable("reserved")
            }
            try AuthorisationTable.withdraw(nonce, app, db)
        }
    }

    /// Deletes old requests that no process is answering.
    /// - Returns: the number of requests deleted.
    static func prune(before time: Timestamp, limit: Int, _ db: any Database) throws -> Int {
        try db.overwriting {
            try db.change(
                """
                DELETE FROM idempotent_request
                WHERE id IN (SELECT id FROM idempotent_request WHERE at < ?1 ORDER BY at LIMIT ?2)
                    AND at < ?1 AND (status IS NOT NULL OR claimed_until < ?1)
                """, [time.milliseconds, limit])
        }
    }
}
