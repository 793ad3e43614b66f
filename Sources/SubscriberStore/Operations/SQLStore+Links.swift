package import OfferCore
package import OfferEligibility

extension SQLStore {
    package func make(
        _ mailing: Mailing, for customers: [CustomerIdentifier], in app: AppScope
    ) async throws(StoreError) -> [MailedLink] {
        let names = Set(customers.map { LockName.identifier($0, app) })
        return try await write(.names(names)) { db in
            let (app, key) = (try AppTable.makeID(of: app, db), try ErasureKey(db))
            return try customers.map { customer in
                if let known = try MailedLinkTable.link(to: customer, mailing.campaign, app, db) { return known }
                let link = mailing.link(
                    to: customer, code: try key.code(of: customer, in: mailing.campaign, app))
                if let erased = try MailedLinkTable.link(link.id, app, db) { return erased }
                try MailedLinkTable.add(link, app, db)
                try ExposureTable.add(link.exposure(rulesDigest: mailing.rulesDigest), app, db)
                return link
            }
        }
    }

    package func link(_ id: [UInt8], in app: AppScope) async throws(StoreError) -> MailedLink? {
        try await read { db in
            guard let app = try AppTable.id(of: app, db) else { return nil }
            return try MailedLinkTable.link(id, app, db)
        }
    }

    package func claim(
        _ link: MailedLink, in app: AppScope, at now: Timestamp
    ) async throws(StoreError) -> MailedLink? {
        let name = link.subject.customer.map { LockName.identifier($0, app) }
        return try await write(.names(Set([name].compactMap(\.self)))) { db in
            guard let app = try AppTable.id(of: app, db), let known = try MailedLinkTable.link(link.id, app, db),
                let grant = known.grant
            else { return nil }
            guard known.claimedAt == nil else { return known }
            try MailedLinkTable.claim(link.id, at: now, app, db)
            try GrantTable.add(grant, app, db)
            if let customer = grant.subject.customer { try CustomerSearch.markReviews(of: customer, app, db) }
            return try MailedLinkTable.link(link.id, app, db)
        }
    }

    package func linkCounts(in app: AppScope) async throws(StoreError) -> [String: LinkCounts] {
        try await read { db in
            guard let app = try AppTable.id(of: app, db) else { return [:] }
            var counts: [String: LinkCounts] = [:]
            try MailedLinkTable.count(&counts, app, db)
            try LinkVisitTable.count(&counts, app, db)
            return counts
        }
    }

    package func addVisits(_ visits: [LinkVisits], in app: AppScope) async throws(StoreError) {
        try await write(.nothing) { db in
            let app = try AppTable.makeID(of: app, db)
            for visits in visits { try LinkVisitTable.add(visits, app, db) }
        }
    }
}
