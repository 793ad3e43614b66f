import OfferCore
import OfferEligibility

/// The signatures issued for decisions.
enum AuthorisationTable {
    /// The numbers under which databases store the states.
    static let states: [Authorisation.State: Int64] = [.outstanding: 1, .redeemed: 2, .withdrawn: 3]

    struct Found {
        let id: Int64
        let nonce: Nonce
        let slot: Int64
        /// The other signature of the same answer, if it was added earlier.
        let twin: Int64?
        let authorisation: Authorisation
    }

    /// Returns all authorisations of a customer, for any offer.
    /// - Parameter includesErased: true to include authorisations made before the customer was erased.
    static func held(
        by holders: [CustomerIdentifier], _ app: Int64, includingErased includesErased: Bool = false, _ db: any Database
    ) throws -> [Found] {
        var seen: Set<Int64> = []
        var found: [Found] = []
        var stored = holders.map(StoredIdentifier.init)
        if includesErased {
            let key = try ErasureKey(db)
            stored += try holders.map {
                StoredIdentifier(kind: StoredIdentifier.erasedKind, value: try key.digest(of: $0, app))
            }
        }
        let rows = try db.rows(ofHolders.queries(about: stored, app)).joined()
        for row in rows where seen.insert(try row["id"]).inserted { found.append(try self.found(row)) }
        return found
    }

    private static let ofHolders = IdentifierQueries { kind, value in
        """
        SELECT authorisation.* FROM authorisation_holder AS holder
            JOIN authorisation ON authorisation.id = holder.authorisation
        WHERE holder.app = ?1 AND holder.kind = \(kind) AND holder.value = \(value)
        """
    }

    private static func found(_ row: Row) throws -> Found {
        Found(
            id: try row["id"], nonce: try nonce(row), slot: try row["slot"], twin: try row["twin"],
            authorisation: try authorisation(row))
    }

    static func authorisation(_ row: Row) throws -> Authorisation {
        let number: Int64 = try row["state"]
        guard let state = states.first(where: { $0.value == number })?.key else {
            throw StoreError.unreadable("state")
        }
        return Authorisation(
            productID: try row.productID, offerID: try row.offerID, state: state, at: try row.requiredTime("at"),
            expiresAt: try row.requiredTime("expires_at"), validUntil: try row.time("valid_until"),
            source: try OfferSource(row, retentionCase: row["retention_case"]))
    }

    static func nonce(_ row: Row, _ column: String = "nonce") throws -> Nonce {
        do { return try Nonce(utf8: Array((row[column] as String).utf8)) } catch {
            throw StoreError.unreadable(column)
        }
    }

    /// - Returns: nil if the column is NULL.
    static func optionalNonce(_ row: Row, _ column: String) throws -> Nonce? {
        try (row[column] as String?).map { _ in try nonce(row, column) }
    }

    static func id(of nonce: Nonce, _ app: Int64, _ db: any Database) throws -> Int64? {
        try row(of: nonce, app, db).map { try $0["id"] }
    }

    static func row(of nonce: Nonce, _ app: Int64, _ db: any Database) throws -> Row? {
        try db.row("SELECT * FROM authorisation WHERE app = ? AND nonce = ?", [app, "\(nonce)"])
    }

    /// - Parameters:
    ///   - slot: the slot to share; nil for a new slot.
    ///   - twin: the other signature of the same answer, if it was added earlier.
    /// - Returns: nil if an authorisation with this nonce exists.
    @discardableResult
    static func add(
        _ authorisation: Authorisation, _ nonce: Nonce, heldBy holders: [CustomerIdentifier], slot: Int64?,
        twin: Int64? = nil, _ app: Int64, _ db: any Database
    ) throws -> (id: Int64, slot: Int64)? {
        let id = try db.insertNew(
            """
            INSERT INTO authorisation
                (app, nonce, product_id, offer_id, state, at, expires_at, slot, twin, valid_until, rule, channel,
                retention_case)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [
                app, "\(nonce)", authorisation.productID.text.description, authorisation.offerID.text.description,
                states[authorisation.state], authorisation.at.milliseconds, authorisation.expiresAt.milliseconds,
                slot ?? 0, twin, authorisation.validUntil.milliseconds, authorisation.source?.rule,
                authorisation.source?.channel.number, authorisation.source?.retentionCase,
            ])
        guard let id else { return nil }
        if slot == nil { try db.send("UPDATE authorisation SET slot = id WHERE id = ?", [id]) }
        for holder in Set(holders) {
            let stored = StoredIdentifier(holder)
            try db.send(
                "INSERT INTO authorisation_holder (app, kind, value, authorisation) VALUES (?, ?, ?, ?)",
                [app, stored.kind, stored.value, id])
        }
        // The holders include the subscriptions. Another signature of the same answer has marked them.
        for case .originalTransactionID(let original) in twin == nil ? holders : [] {
            try ReviewTable.mark(original, app, db)
        }
        return (id, slot ?? id)
    }

    static func setState(_ state: Authorisation.State, _ id: Int64, _ db: any Database) throws {
        try db.send("UPDATE authorisation SET state = ? WHERE id = ?", [states[state], id])
    }

    /// Withdraws an authorisation whose signature was not issued, and the exposures that were recorded with it.
    static func withdraw(_ nonce: Nonce, _ app: Int64, _ db: any Database) throws {
        guard let row = try row(of: nonce, app, db) else { return }
        let id: Int64 = try row["id"]
        // A redemption may have closed it in the meantime.
        let changes = try db.changes("UPDATE authorisation SET state = 3 WHERE id = ? AND state = 1", forEach: [[id]])
        guard changes == [1] else { return }
        let authorisation = try authorisation(row)
        let holders = try holders(of: id, db)
        for case .originalTransactionID(let original) in holders { try ReviewTable.mark(original, app, db) }
        // Another signature for the offer may rely on the exposure.
        let isNeeded = try held(by: holders, app, db).contains { other in
            other.id != id && other.authorisation.state != .withdrawn && other.authorisation.at >= authorisation.at
                && other.authorisation.productID == authorisation.productID
                && other.authorisation.offerID == authorisation.offerID
        }
        guard !isNeeded else { return }
        for holder in holders { try ExposureTable.remove(with: authorisation, of: holder, app, db) }
    }

    static func holders(of id: Int64, _ db: any Database) throws -> [CustomerIdentifier] {
        try db.rows(
            "SELECT kind, value FROM authorisation_holder WHERE authorisation = ? AND kind != 0 ORDER BY kind, value",
            [id]
        ).map { try StoredIdentifier(kind: try $0["kind"], value: try $0["value"]).identifier() }
    }

    /// Returns the holders of an authorisation, without the Apple Account if another holder is erased: that person's
    /// signatures are not those of others with the same Apple Account.
    static func personalHolders(of id: Int64, _ db: any Database) throws -> [CustomerIdentifier] {
        let holders = try holders(of: id, db)
        let hasErased =
            try db.number("SELECT 1 FROM authorisation_holder WHERE authorisation = ? AND kind = 0 LIMIT 1", [id])
            != nil
        guard hasErased else { return holders }
        return holders.filter { holder in
            if case .appTransactionID = holder { false } else { true }
        }
    }

    /// Returns the number of slots held by all customers together: redemptions, and slots with outstanding signatures.
    ///
    /// Redemptions have a counter, so counting a million costs as much as counting ten. One statement reads both
    /// numbers, so both come from the same state of the database: in PostgreSQL, each statement sees the commits so
    /// far. A redemption closes its authorisation in one change but does not lock the total, so two statements could
    /// miss a redemption committed between them.
    static func slots(
        of productID: ProductID, _ offerID: OfferID, at now: Timestamp, _ app: Int64, _ db: any Database
    ) throws -> Int64 {
        try db.number(
            """
            SELECT (SELECT CAST(coalesce(sum(count), 0) AS BIGINT) FROM redemption_count
                    WHERE app = ?1 AND offer_id = ?2 AND product_id = ?3)
                + (SELECT count(DISTINCT slot) FROM authorisation
                    WHERE app = ?1 AND offer_id = ?2 AND product_id = ?3 AND state = 1 AND expires_at > ?4)
            """, [app, offerID.text.description, productID.text.description, now.milliseconds]) ?? 0
    }

    /// Returns the query for the next check of a subscription whose customer holds a signature.
    /// - Parameter last: the date of the App Store's last data. A signature that was unusable by then needs no check.
    static func nextCheck(of original: TransactionID, _ subscription: Int64, after last: Timestamp) -> Query {
        let stored = StoredIdentifier(.originalTransactionID(original))
        return Query(
            """
            SELECT min(expires_at) AS expires_at FROM authorisation_holder AS holder
                JOIN authorisation ON authorisation.id = holder.authorisation
            WHERE holder.app = (SELECT app FROM subscription WHERE id = ?) AND holder.kind = ? AND holder.value = ?
                AND state = 1 AND expires_at > ?
            """, [subscription, stored.kind, stored.value, (last + Authorisation.syncTime).milliseconds])
    }

    /// Reads the result of the query ``nextCheck(of:_:after:)``; nil if nothing is outstanding.
    static func nextCheck(_ rows: [Row]) throws -> Timestamp? {
        try rows.first?.time("expires_at").map { $0 - Authorisation.syncTime }
    }

    /// Removes an identifier from its authorisations. Its HMAC is kept, to explain the redemption of a signature that
    /// the customer still holds.
    static func erase(_ holder: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        let stored = StoredIdentifier(holder)
        let digest = try ErasureKey(db).digest(of: holder, app)
        try db.send(
            """
            INSERT INTO authorisation_holder (app, kind, value, authorisation)
            SELECT app, 0, ?4, authorisation FROM authorisation_holder WHERE app = ?1 AND kind = ?2 AND value = ?3
            ON CONFLICT DO NOTHING
            """, [app, stored.kind, stored.value, digest])
        try db.send(
            "DELETE FROM authorisation_holder WHERE app = ? AND kind = ? AND value = ?",
            [app, stored.kind, stored.value])
    }
}

extension Row {
    var productID: ProductID {
        get throws {
            do { return try ProductID(utf8: Array((try self["product_id"] as String).utf8)) } catch {
                throw StoreError.unreadable("product_id")
            }
        }
    }

    var offerID: OfferID {
        get throws {
            do { return try OfferID(utf8: Array((try self["offer_id"] as String).utf8)) } catch {
                throw StoreError.unreadable("offer_id")
            }
        }
    }
}
