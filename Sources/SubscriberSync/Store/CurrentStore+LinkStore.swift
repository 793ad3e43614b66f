package import OfferCore
package import OfferEligibility
package import SubscriberStore

extension CurrentStore: LinkStore {
    package func make(
        _ mailing: Mailing, for customers: [CustomerIdentifier], in app: AppScope
    ) async throws(StoreError) -> [MailedLink] {
        try await write { store throws(StoreError) in try await store.make(mailing, for: customers, in: app) }
    }

    package func link(_ id: [UInt8], in app: AppScope) async throws(StoreError) -> MailedLink? {
        try await read { store throws(StoreError) in try await store.link(id, in: app) }
    }

    package func claim(
        _ link: MailedLink, in app: AppScope, at now: Timestamp
    ) async throws(StoreError) -> MailedLink? {
        try await write { store throws(StoreError) in try await store.claim(link, in: app, at: now) }
    }

    package func linkCounts(in app: AppScope) async throws(StoreError) -> [String: LinkCounts] {
        try await read { store throws(StoreError) in try await store.linkCounts(in: app) }
    }

    package func addVisits(_ visits: [LinkVisits], in app: AppScope) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.addVisits(visits, in: app) }
    }
}
