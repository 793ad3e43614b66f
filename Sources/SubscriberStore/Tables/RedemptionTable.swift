import OfferCore
import OfferEligibility

/// The redemptions of promotional offers reported by the App Store, each counted once.
enum RedemptionTable {
    private struct Offer: Hashable {
        let productID: ProductID
        let offerID: String

        /// Returns true if a redemption was announced for the next period but another offer replaced it. Such a
        /// redemption still counts. Any other redemption without a fact is part of a known redemption.
        func isReplaced(_ time: Timestamp, in facts: [SubscriberFact]) -> Bool {
            !facts.contains { fact in
                switch fact.value {
                case .transaction(let purchase), .receiptTransaction(let purchase), .fetchedTransaction(let purchase):
                    isUsed(purchase.offer, purchase.productID) && purchase.purchaseDate >= time
                case .renewalInfo(let renewal), .fetchedRenewalInfo(let renewal):
                    isUsed(renewal.offer, renewal.autoRenewProductID ?? renewal.productID)
                case .status, .refundRequest, .expiryReason, .wholeHistory, .firstAnnouncement, .lastAnnouncement,
                    .renewalChange:
                    false
                }
            }
        }

        private func isUsed(_ offer: AppliedOffer?, _ productID: ProductID) -> Bool {
            offer?.type == .promotional && offer?.identifier == offerID && productID == self.productID
        }
    }

    /// Updates the redemptions of a subscription, and closes the authorisations that explain new redemptions.
    ///
    /// A redemption appears first in the renewal info and later in a transaction. It keeps its row, so it counts once.
    /// - Parameters:
    ///   - facts: all facts about the subscription.
    ///   - forgotten: the treatment of redemptions that facts no longer show; nil if no facts were removed.
    static func update(
        _ facts: [SubscriberFact], of subscription: Int64, forgotten: Forgotten? = nil, _ db: any Database
    ) throws {
        let redemptions = Dictionary(grouping: Redemption.promotional(in: facts)) {
            Offer(productID: $0.productID, offerID: $0.offerID)
        }
        for (offer, redemptions) in redemptions { try adopt(redemptions, of: offer, by: subscription, db) }
        let rows = Dictionary(grouping: try self.rows(of: subscription, db), by: \.offer)
        guard let app = try app(of: subscription, db) else { return }
        // Authorisations are freed first, because they may explain other redemptions.
        var unexplained: [(id: Int64, redemption: Redemption, at: Timestamp)] = []
        var new: [(redemption: Redemption, ordinal: Int64)] = []
        for offer in Set(redemptions.keys).union(rows.keys) {
            let matches = Matches(redemptions[offer] ?? [], rows[offer] ?? [])
            var hasFreed = false
            for row in matches.rest {
                if let forgotten {
                    try forget(row.id, forgotten, db)
                } else if row.isLasting || !offer.isReplaced(row.at, in: facts) {
                    try forget(row.id, .neverWas, db)
                } else {
                    continue
                }
                hasFreed = true
            }
            var open: [(id: Int64, redemption: Redemption, at: Timestamp, hasMoved: Bool)] = []
            for (redemption, row) in matches.known {
                let firstAt = min(row.firstAt, redemption.firstAt)
                let isLasting = row.isLasting || redemption.isLasting
                let hasMoved = firstAt != row.firstAt || redemption.at != row.at
                if hasMoved || isLasting != row.isLasting {
                    try db.send(
                        "UPDATE redemption SET at = ?, first_at = ?, is_lasting = ? WHERE id = ?",
                        [redemption.at.milliseconds, firstAt.milliseconds, isLasting ? 1 : 0, row.id])
                }
                let isFreed = try row.isExplained && firstAt != row.firstAt && free(row.id, notValidAt: firstAt, db)
                hasFreed = hasFreed || isFreed
                if !row.isExplained || isFreed { open.append((row.id, redemption, firstAt, hasMoved)) }
            }
            unexplained += open.filter { $0.hasMoved || hasFreed }.map { ($0.id, $0.redemption, $0.at) }
            let ordinal = ((rows[offer] ?? []).map(\.ordinal).max() ?? -1) + 1
            new += zip(matches.new, ordinal...).map { ($0, $1) }
        }
        for (id, redemption, at) in unexplained {
            guard let explanation = try explanation(of: redemption, at: at, by: subscription, app, db) else { continue }
            try db.send("UPDATE redemption SET authorisation = ? WHERE id = ?", [explanation, id])
            try AuthorisationTable.setState(.redeemed, explanation, db)
        }
        for (redemption, ordinal) in new { try add(redemption, ordinal, of: subscription, app, db) }
    }

    private struct StoredRow {
        let id: Int64
        let offer: Offer
        let at: Timestamp
        let firstAt: Timestamp
        let ordinal: Int64
        let isExplained: Bool
        let isLasting: Bool
    }

    private static func rows(of subscription: Int64, _ db: any Database) throws -> [StoredRow] {
        try db.rows("SELECT * FROM redemption WHERE subscription = ? ORDER BY at, id", [subscription]).map { row in
            StoredRow(
                id: try row["id"], offer: Offer(productID: try row.productID, offerID: try row["offer_id"]),
                at: try row.requiredTime("at"), firstAt: try row.requiredTime("first_at"), ordinal: try row["ordinal"],
                isExplained: try (row["authorisation"] as Int64?) != nil,
                isLasting: try (row["is_lasting"] as Int64) != 0)
        }
    }

    /// The matches between the redemptions of an offer and their rows. Redemptions are first matched by time.
    /// Redemptions that moved from the renewal info to their period are then matched in the order of time. An older
    /// redemption that becomes known late has no row, and does not shift the others.
    private struct Matches {
        private(set) var known: [(redemption: Redemption, row: StoredRow)] = []
        private(set) var new: [Redemption] = []
        /// The rows without a redemption.
        private(set) var rest: [StoredRow]

        /// - Parameter rows: the rows in the order of time.
        init(_ redemptions: [Redemption], _ rows: [StoredRow]) {
            rest = rows
            var unmatched: [Redemption] = []
            for redemption in redemptions {
                let place =
                    rest.firstIndex { $0.at == redemption.at }
                    ?? redemption.announcedAt.flatMap { date in rest.firstIndex { $0.at == date } }
                if let place {
                    known.append((redemption, rest.remove(at: place)))
                } else {
                    unmatched.append(redemption)
                }
            }
            // Uncertain redemptions count only with a signature, so they take no existing row.
            new = unmatched.filter { !$0.isCertain }
            unmatched.removeAll { !$0.isCertain }
            let isNew = rest.count < unmatched.count
            for redemption in unmatched {
                // A row gets a later time when its period begins. If there are more redemptions than rows, an older
                // redemption is new.
                if let place = rest.firstIndex(where: { !isNew || $0.at <= redemption.at }) {
                    known.append((redemption, rest.remove(at: place)))
                } else {
                    new.append(redemption)
                }
            }
        }
    }

    /// The treatment of a redemption that facts no longer show.
    enum Forgotten {
        /// It was never a redemption.
        case neverWas
        /// It still counts, but not for a customer. The record helps to recognise later data of the same subscription.
        case erased(ErasedSubscription)
    }

    private static func forget(_ id: Int64, _ forgotten: Forgotten, _ db: any Database) throws {
        switch forgotten {
        case .neverWas:
            // The signature can still be used.
            try db.send(
                """
                UPDATE authorisation SET state = 1
                WHERE state = 2 AND id = (SELECT authorisation FROM redemption WHERE redemption.id = ?)
                """, [id])
            try db.send("DELETE FROM redemption WHERE id = ?", [id])
        case .erased(let subscription):
            try db.send(
                "UPDATE redemption SET subscription = NULL, erased = ?, continues_until = ? WHERE id = ?",
                [subscription.digest, subscription.continuesUntil?.milliseconds, id])
        }
    }

    /// Frees the authorisation that explains a redemption if it was not valid when the customer redeemed the offer. The
    /// redemption first appeared at a later time. At that time, another redemption's authorisation could explain it.
    /// - Returns: false if the authorisation was valid.
    private static func free(_ id: Int64, notValidAt time: Timestamp, _ db: any Database) throws -> Bool {
        let row = try db.row(
            """
            SELECT authorisation.* FROM redemption JOIN authorisation ON authorisation.id = redemption.authorisation
            WHERE redemption.id = ?
            """, [id])
        guard let row, try !AuthorisationTable.authorisation(row).wasValid(at: time) else { return false }
        try db.send("UPDATE redemption SET authorisation = NULL WHERE id = ?", [id])
        try AuthorisationTable.setState(.outstanding, row["id"], db)
        return true
    }

    /// Returns erased redemptions to their subscription when new data shows them again or shows their next period.
    /// Without this, the rest of an offer of several months would be a redemption without an explanation.
    private static func adopt(
        _ redemptions: [Redemption], of offer: Offer, by subscription: Int64, _ db: any Database
    ) throws {
        guard let first = redemptions.first, let app = try app(of: subscription, db) else { return }
        let digest = try ErasureKey(db).digest(of: .originalTransactionID(first.originalTransactionID), app)
        let erased = try db.rows(
            """
            SELECT id, at, continues_until FROM redemption
            WHERE erased = ? AND +app = ? AND offer_id = ? AND product_id = ? ORDER BY at, id
            """, [digest, app, offer.offerID, offer.productID.text.description])
        guard !erased.isEmpty else { return }
        let known = try db.rows(
            "SELECT at, ordinal FROM redemption WHERE subscription = ? AND offer_id = ? AND product_id = ?",
            [subscription, offer.offerID, offer.productID.text.description])
        var ordinal = (try known.map { try $0["ordinal"] as Int64 }.max() ?? -1) + 1
        let times = try Set(known.map { try $0.requiredTime("at") })
        var shown = redemptions.map(\.at).filter { !times.contains($0) }
        for row in erased {
            let (at, end) = (try row.requiredTime("at"), try row.time("continues_until"))
            let place = shown.firstIndex { time in time == at || end.map { time > at && time <= $0 } ?? false }
            guard let place else { continue }
            shown.remove(at: place)
            try db.send(
                "UPDATE redemption SET subscription = ?, ordinal = ?, erased = NULL, continues_until = NULL WHERE id = ?",
                [subscription, ordinal, try row["id"] as Int64])
            ordinal += 1
        }
    }

    private static func app(of subscription: Int64, _ db: any Database) throws -> Int64? {
        try db.number("SELECT app FROM subscription WHERE id = ?", [subscription])
    }

    /// Removes all redemptions of a subscription, which facts no longer show.
    static func removeAll(of subscription: Int64, forgotten: Forgotten, _ db: any Database) throws {
        for row in try db.rows("SELECT id FROM redemption WHERE subscription = ?", [subscription]) {
            try forget(try row["id"], forgotten, db)
        }
    }

    private static func add(
        _ redemption: Redemption, _ ordinal: Int64, of subscription: Int64, _ app: Int64, _ db: any Database
    ) throws {
        let (productID, firstAt) = (redemption.productID.text.description, redemption.firstAt)
        let explanation = try explanation(of: redemption, at: firstAt, by: subscription, app, db)
        guard redemption.isCertain || explanation != nil else { return }
        try db.send(
            """
            INSERT INTO redemption
                (app, subscription, product_id, offer_id, ordinal, at, first_at, authorisation, is_lasting)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                app, subscription, productID, redemption.offerID, ordinal, redemption.at.milliseconds,
                firstAt.milliseconds, explanation, redemption.isLasting ? 1 : 0,
            ])
        if let explanation { try AuthorisationTable.setState(.redeemed, explanation, db) }
        try db.send(
            "INSERT INTO redeemed_offer (app, product_id, offer_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [app, productID, redemption.offerID])
    }

    /// Returns the oldest authorisation that could have led to a redemption: one that was valid when the customer
    /// redeemed the offer, however late the redemption became known. A signature that had expired by then explains
    /// nothing.
    private static func explanation(
        of redemption: Redemption, at time: Timestamp, by subscription: Int64, _ app: Int64, _ db: any Database
    ) throws -> Int64? {
        let holders =
            try [CustomerIdentifier.originalTransactionID(redemption.originalTransactionID)]
            + IdentifierTable.identifiers(of: subscription, db)
        let candidates = try AuthorisationTable.held(by: holders, app, includingErased: true, db).filter { found in
            let authorisation = found.authorisation
            return try authorisation.productID == redemption.productID
                && authorisation.offerID.text.description == redemption.offerID
                && authorisation.wasValid(at: time) && isOpen(found, db)
        }
        return candidates.min { ($0.authorisation.at, $0.id) < ($1.authorisation.at, $1.id) }?.id
    }

    /// Returns true if an authorisation is not withdrawn and has not led to a known redemption. After an import, or
    /// after facts were removed, an open authorisation can still be marked as redeemed.
    private static func isOpen(_ found: AuthorisationTable.Found, _ db: any Database) throws -> Bool {
        switch found.authorisation.state {
        case .outstanding: true
        case .withdrawn: false
        case .redeemed: try db.row("SELECT 1 FROM redemption WHERE authorisation = ?", [found.id]) == nil
        }
    }

    /// The start of a query for the columns that ``redemption(_:_:)`` reads.
    private static let columns = """
        SELECT redemption.*, authorisation.at AS authorised_at, authorisation.rule AS rule, original_transaction_id
            FROM redemption
            LEFT JOIN authorisation ON authorisation.id = redemption.authorisation
            LEFT JOIN subscription ON subscription.id = redemption.subscription
        """

    private static func redemption(_ row: Row, _ app: AppScope) throws -> LedgerRedemption {
        let original: String? = try row["original_transaction_id"]
        return LedgerRedemption(
            number: try row["id"], app: app,
            originalTransactionID: try original.map { _ in try row.transactionID("original_transaction_id") },
            productID: try row.productID, offerID: try row["offer_id"], ordinal: try row["ordinal"],
            at: try row.requiredTime("at"), firstAt: try row.requiredTime("first_at"),
            authorisedAt: try row.time("authorised_at"), rule: try row["rule"])
    }

    /// Returns the redemptions of some subscriptions, and those explained by the given authorisations.
    static func all(
        by subscriptions: Set<Int64>, explainedBy authorisations: [Int64], _ app: AppScope, _ db: any Database
    ) throws -> [LedgerRedemption] {
        var found: [Int64: LedgerRedemption] = [:]
        let queries =
            subscriptions.map { Query("\(columns) WHERE redemption.subscription = ?", [$0]) }
            + authorisations.map { Query("\(columns) WHERE redemption.authorisation = ?", [$0]) }
        for row in try db.rows(queries).joined() { found[try row["id"]] = try redemption(row, app) }
        return Array(found.values)
    }

    static func all(after number: Int64, limit: Int, _ db: any Database) throws -> [LedgerRedemption] {
        let apps = try AppTable.all(db)
        return try db.rows("\(columns) WHERE redemption.id > ? ORDER BY redemption.id LIMIT ?", [number, limit])
            .compactMap { row in try apps[try row["app"]].map { try redemption(row, $0) } }
    }

    static func last(_ db: any Database) throws -> Int64 {
        try db.number("SELECT coalesce(max(id), 0) FROM redemption", []) ?? 0
    }

    /// The condition for redemptions that lack a required authorisation, if their offer is not exempt now.
    private static let lacksAuthorisation = """
        redemption.authorisation IS NULL AND redemption.acknowledged_at IS NULL AND redemption.first_at >= since
        AND NOT EXISTS (
            SELECT 1 FROM ledger_exemption AS exempt
            WHERE exempt.app = redemption.app AND exempt.product_id = redemption.product_id
                AND exempt.offer_id = redemption.offer_id
                AND redemption.first_at >= exempt.begins_at AND redemption.first_at < exempt.ends_at)
        """

    /// Returns true if a redemption of a covered offer lacks a required authorisation.
    static func isUnexplained(_ number: Int64, _ db: any Database) throws -> Bool {
        try db.row(
            """
            SELECT 1 FROM redemption JOIN ledger_app ON ledger_app.app = redemption.app
            WHERE redemption.id = ? AND \(lacksAuthorisation)
            """, [number]) != nil
    }

    /// Returns the redemptions of an offer that lack a required authorisation, oldest first.
    static func unexplained(
        _ offer: LedgerCoverageTable.Offer, _ scope: AppScope, _ app: Int64, limit: Int, _ db: any Database
    ) throws -> [LedgerRedemption] {
        try db.rows(
            """
            \(columns) JOIN ledger_app ON ledger_app.app = redemption.app
            WHERE redemption.app = ? AND redemption.offer_id = ? AND redemption.product_id = ? AND \(lacksAuthorisation)
            ORDER BY redemption.at, redemption.id LIMIT ?
            """, [app, offer.offerID, offer.productID, limit]
        ).map { try redemption($0, scope) }
    }

    /// The query for offers whose counter differs from the number of their rows. No statement of the service causes a
    /// difference.
    static let miscounted = """
        SELECT product_id, offer_id, counted, found FROM (
            SELECT app, product_id, offer_id, CAST(sum(counted) AS BIGINT) AS counted, CAST(sum(found) AS BIGINT) AS found
            FROM (
                SELECT app, product_id, offer_id, count AS counted, 0 AS found FROM redemption_count
                UNION ALL SELECT app, product_id, offer_id, 0, 1 FROM redemption) AS entries
            GROUP BY app, product_id, offer_id) AS sums
        WHERE counted != found ORDER BY product_id, offer_id LIMIT 100
        """

    /// Describes an offer found by ``miscounted``.
    static func miscount(of offer: String, _ product: String, counted: Int64, found: Int64) -> String {
        "the offer \(offer) of \(product) has \(found) redemptions, but its counter says \(counted)"
    }

    /// - Returns: false if the redemption does not exist, or was acknowledged before.
    static func acknowledge(_ acknowledgement: Acknowledgement, _ db: any Database) throws -> Bool {
        let values: [(any ColumnValue)?] = [
            acknowledgement.at.milliseconds, acknowledgement.person, acknowledgement.note, acknowledgement.number,
        ]
        return try db.change(
            """
            UPDATE redemption SET acknowledged_at = ?, acknowledged_by = ?, acknowledgement = ?
            WHERE id = ? AND acknowledged_at IS NULL
            """, values) == 1
    }

    /// Returns the acknowledged redemptions of some apps, the last acknowledgement first.
    static func acknowledged(
        in scopes: Set<AppScope>, limit: Int, _ db: any Database
    ) throws -> [AcknowledgedRedemption] {
        let apps = try AppTable.all(db).filter { scopes.contains($0.value) }
        var found: [AcknowledgedRedemption] = []
        for (app, scope) in apps {
            found += try db.rows(
                """
                \(columns) WHERE redemption.app = ? AND redemption.acknowledged_at IS NOT NULL
                ORDER BY redemption.acknowledged_at DESC, redemption.id DESC LIMIT ?
                """, [app, limit]
            ).map { row in
                AcknowledgedRedemption(
                    redemption: try redemption(row, scope),
                    acknowledgement: Acknowledgement(
                        try row["id"], at: try row.requiredTime("acknowledged_at"), by: try row["acknowledged_by"],
                        note: try row["acknowledgement"]))
            }
        }
        let sorted = found.sorted { one, other in
            (one.acknowledgement.at, one.redemption.number) > (other.acknowledgement.at, other.redemption.number)
        }
        return Array(sorted.prefix(limit))
    }
}
