import OfferCore
import OfferEligibility

extension SQLStore {
    package func forEachRecord(
        _ body: @escaping @Sendable (StoreRecord) throws(StoreError) -> Void
    ) async throws(StoreError) {
        try await read { db in
            // Authorisations come before facts, because they explain the redemptions in the facts.
            try Self.authorisations(db) { try body($0) }
            try Self.facts(db) { try body($0) }
            try Self.identifiers(db) { try body($0) }
            try Self.notifications(db) { try body($0) }
            try Self.callersStatements(db) { try body($0) }
            try Self.recordsForReports(db) { try body($0) }
            for intake in try AppTable.intakes(db) { try body(.intake(intake)) }
        }
    }

    private static func authorisations(_ db: any Database, _ body: (StoreRecord) throws -> Void) throws {
        try db.forEachRow(
            """
            SELECT authorisation.*, twin.nonce AS twin_nonce, taker.nonce AS slot_nonce, bundle_id, environment
            FROM authorisation JOIN app ON app.id = authorisation.app
                LEFT JOIN authorisation AS twin ON twin.id = authorisation.twin
                LEFT JOIN authorisation AS taker ON taker.id = authorisation.slot
            ORDER BY authorisation.id
            """
        ) { row in
            let entry = AuthorisationEntry(
                id: try AuthorisationTable.nonce(row), authorisation: try AuthorisationTable.authorisation(row),
                holders: try AuthorisationTable.holders(of: try row["id"], db),
                twin: try AuthorisationTable.optionalNonce(row, "twin_nonce"),
                slot: try AuthorisationTable.optionalNonce(row, "slot_nonce"))
            try body(.authorisation(AppTable.scope(row), entry))
        }
    }

    private static func facts(_ db: any Database, _ body: (StoreRecord) throws -> Void) throws {
        func fact(_ row: Row) throws {
            let original = try row.transactionID("original_transaction_id")
            try body(.fact(AppTable.scope(row), FactTable.fact(row, of: original)))
        }
        try db.forEachRow(
            """
            SELECT fact.*, original_transaction_id, bundle_id, environment
            FROM fact JOIN subscription ON subscription.id = fact.subscription JOIN app ON app.id = subscription.app
            ORDER BY subscription, kind, transaction_id
            """, fact)
        for table in ["announcement", "renewal_change"] {
            try db.forEachRow(
                """
                SELECT \(table).*, original_transaction_id, bundle_id, environment
                FROM \(table) JOIN subscription ON subscription.id = \(table).subscription
                    JOIN app ON app.id = subscription.app
                ORDER BY subscription, kind, transaction_id
                """, fact)
        }
    }

    private static func identifiers(_ db: any Database, _ body: (StoreRecord) throws -> Void) throws {
        try db.forEachRow(
            """
            SELECT identifier.kind, identifier.value, original_transaction_id, bundle_id, environment
            FROM identifier JOIN subscription ON subscription.id = identifier.subscription
                JOIN app ON app.id = identifier.app
            ORDER BY identifier.app, identifier.kind, identifier.value, subscription
            """
        ) { row in
            let identifier = try StoredIdentifier(kind: try row["kind"], value: try row["value"]).identifier()
            let original = try row.transactionID("original_transaction_id")
            try body(.identifier(AppTable.scope(row), identifier, of: original))
        }
    }

    private static func notifications(_ db: any Database, _ body: (StoreRecord) throws -> Void) throws {
        try db.forEachRow(
            """
            SELECT notification.*, body, bundle_id, environment
            FROM notification JOIN app ON app.id = notification.app
                LEFT JOIN payload ON payload.notification = notification.id
            ORDER BY notification.id
            """
        ) { row in
            let id: Int64 = try row["id"]
            let entry = NotificationEntry(
                app: try AppTable.scope(row), notification: try NotificationTable.record(row),
                body: try row["body"],
                subscriptions: try PayloadTable.subscriptions(in: id, db),
                forwards: try ForwardTable.entries(of: id, db))
            try body(.notification(entry))
        }
    }

    private static func recordsForReports(_ db: any Database, _ body: (StoreRecord) throws -> Void) throws {
        try db.forEachRow(
            """
            SELECT exposure.*, bundle_id, environment FROM exposure JOIN app ON app.id = app
            ORDER BY app, kind, value, product_id, offer_id, sample
            """
        ) { row in try body(.exposure(AppTable.scope(row), ExposureTable.exposure(row))) }
        try db.forEachRow(
            """
            SELECT retention_shown.*, bundle_id, environment FROM retention_shown JOIN app ON app.id = app
            ORDER BY app, request_id
            """
        ) { row in try body(.retentionShown(AppTable.scope(row), RetentionShownTable.shown(row))) }
        try db.forEachRow(
            """
            SELECT offer_event.*, bundle_id, environment FROM offer_event JOIN app ON app.id = app
            ORDER BY app, offer_event.kind, value, event, product_id, offer_id, at, nonce
            """
        ) { row in try body(.offerEvent(AppTable.scope(row), OfferEventTable.event(row))) }
        try db.forEachRow(
            """
            SELECT sample_size.*, bundle_id, environment FROM sample_size JOIN app ON app.id = app ORDER BY app, sample
            """
        ) { row in try body(.sampleSize(SampleSizeTable.size(row))) }
    }

    private static func callersStatements(_ db: any Database, _ body: (StoreRecord) throws -> Void) throws {
        try db.forEachRow(
            "SELECT offer_grant.*, bundle_id, environment FROM offer_grant JOIN app ON app.id = app ORDER BY offer_grant.id"
        ) { row in try body(.grant(AppTable.scope(row), GrantTable.grant(row))) }
        try db.forEachRow(
            """
            SELECT mailed_link.*, bundle_id, environment FROM mailed_link JOIN app ON app.id = app
            ORDER BY app, mailed_link.id
            """
        ) { row in try body(.mailedLink(AppTable.scope(row), MailedLinkTable.link(row))) }
        try db.forEachRow(
            """
            SELECT link_visit.*, bundle_id, environment FROM link_visit JOIN app ON app.id = app
            ORDER BY app, campaign, day, is_personal
            """
        ) { row in try body(.linkVisits(AppTable.scope(row), LinkVisitTable.visits(row))) }
        try db.forEachRow(
            """
            SELECT team_fact.*, bundle_id, environment FROM team_fact JOIN app ON app.id = app
            ORDER BY app, kind, identifier, name
            """
        ) { row in
            try body(.teamFact(AppTable.scope(row), TeamFactTable.fact(row)))
        }
        try db.forEachRow(
            """
            SELECT tracked_fact.*, bundle_id, environment FROM tracked_fact JOIN app ON app.id = app
            ORDER BY app, kind, identifier, name, day
            """
        ) { row in
            try body(.trackedFact(AppTable.scope(row), TrackedFactTable.fact(row)))
        }
        try db.forEachRow(
            """
            SELECT link.*, bundle_id, environment FROM link JOIN app ON app.id = app
            ORDER BY app, kind, identifier
            """
        ) { row in
            try body(.link(AppTable.scope(row), LinkTable.link(row), setAt: try row.requiredTime("set_at")))
        }
    }

    package func add(_ records: [StoreRecord]) async throws(StoreError) {
        try await write(.everything) { db in
            for record in records { try Self.add(record, db) }
        }
    }

    private static func add(_ record: StoreRecord, _ db: any Database) throws {
        switch record {
        case .intake(let intake): try AppTable.raise(to: intake, AppTable.makeID(of: intake.app, db), db)
        case .fact(let app, let fact):
            _ = try FactMerge(db: db, app: AppTable.makeID(of: app, db)).merge([fact], isExported: true)
        case .identifier(let app, let identifier, let original):
            let app = try AppTable.makeID(of: app, db)
            let subscription = try SubscriptionTable.makeID(of: original, lacksAnnouncements: true, app, db)
            // A fact may have added the identifier already, with the right kind of purchase.
            guard try !IdentifierTable.identifiers(of: subscription, db).contains(identifier) else { return }
            try IdentifierTable.add(identifier, subscription, app, db)
        case .notification(let entry): try add(entry, db)
        case .teamFact(let app, let fact): try TeamFactTable.set(fact, AppTable.makeID(of: app, db), db)
        case .trackedFact(let app, let fact): try TrackedFactTable.add(fact, AppTable.makeID(of: app, db), db)
        case .link(let app, let link, let setAt): try LinkTable.set(link, at: setAt, AppTable.makeID(of: app, db), db)
        case .authorisation(let app, let entry): try add(entry, AppTable.makeID(of: app, db), db)
        case .retentionShown(let app, let shown):
            try RetentionShownTable.add(shown, AppTable.makeID(of: app, db), db)
        case .offerEvent(let app, let event): try OfferEventTable.add(event, AppTable.makeID(of: app, db), db)
        case .grant(let app, let grant): try GrantTable.add(grant, AppTable.makeID(of: app, db), db)
        case .mailedLink(let app, let link): try MailedLinkTable.add(link, AppTable.makeID(of: app, db), db)
        case .linkVisits(let app, let visits): try LinkVisitTable.raise(to: visits, AppTable.makeID(of: app, db), db)
        case .sampleSize(let size): try SampleSizeTable.add(size, AppTable.makeID(of: size.app, db), db)
        case .exposure(let app, let exposure): try ExposureTable.add(exposure, AppTable.makeID(of: app, db), db)
        }
    }

    private static func add(_ entry: AuthorisationEntry, _ app: Int64, _ db: any Database) throws {
        let authorisation = entry.authorisation
        let twin = try entry.twin.flatMap { try AuthorisationTable.id(of: $0, app, db) }
        let slot: Int64?
        if let first = entry.slot {
            // The authorisation that took the slot was exported earlier. If it is this authorisation, it is not found,
            // and a new slot is taken.
            slot = try AuthorisationTable.id(of: first, app, db)
        } else {
            slot = twin == nil ? try sharedSlot(of: entry, app, db) : nil
        }
        try AuthorisationTable.add(
            authorisation, entry.id, heldBy: entry.holders, slot: slot, twin: twin, app, db)
    }

    /// Returns the slot that an authorisation exported by an older version shares with one that was outstanding at the
    /// time; nil if there is none. Each form of an answer may have had its own slot, so each form gets its own. An
    /// excess slot becomes free when the signature expires.
    private static func sharedSlot(
        of entry: AuthorisationEntry, _ app: Int64, _ db: any Database
    ) throws -> Int64? {
        let authorisation = entry.authorisation
        return try AuthorisationTable.held(by: entry.holders, app, db).first { found in
            found.authorisation.productID == authorisation.productID
                && found.authorisation.offerID == authorisation.offerID
                && found.authorisation.isOutstanding(at: authorisation.at)
        }?.slot
    }

    private static func add(_ entry: NotificationEntry, _ db: any Database) throws {
        let app = try AppTable.makeID(of: entry.app, db)
        let receivedAt = entry.notification.receivedAt
        guard let id = try NotificationTable.add(entry.notification, app, db) else { return }
        try AppTable.count(entry.notification, app, db)
        guard let body = entry.body else { return }
        try PayloadTable.add(body, of: id, receivedAt: receivedAt, db)
        let subscriptions = try entry.subscriptions.map {
            try SubscriptionTable.makeID(of: $0, lacksAnnouncements: true, app, db)
        }
        for subscription in subscriptions { try PayloadTable.addMention(of: subscription, in: id, db) }
        for forward in entry.forwards {
            try ForwardTable.add(
                id, to: ReceiverTable.makeID(of: forward.receiver, db), about: subscriptions.first,
                receivedAt: receivedAt, failures: forward.failures, diedAt: forward.diedAt, db)
        }
    }
}
