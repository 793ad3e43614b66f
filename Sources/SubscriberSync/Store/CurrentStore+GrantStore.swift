package import OfferCore
package import OfferEligibility
package import SubscriberStore

extension CurrentStore: GrantStore {
    package func make(_ request: GrantRequest) async throws(StoreError) -> GrantResult {
        try await write { store throws(StoreError) in try await store.make(request) }
    }

    package func approve(_ id: UUIDText, _ act: OfferGrant.Act) async throws(StoreError) -> GrantChange {
        try await write { store throws(StoreError) in try await store.approve(id, act) }
    }

    package func withdraw(_ id: UUIDText, _ act: OfferGrant.Act) async throws(StoreError) -> GrantChange {
        try await write { store throws(StoreError) in try await store.withdraw(id, act) }
    }

    package func grant(_ id: UUIDText) async throws(StoreError) -> StoredGrant? {
        try await read { store throws(StoreError) in try await store.grant(id) }
    }

    package func grants(
        in app: AppScope, _ selection: GrantSelection, before time: Timestamp?, limit: Int
    ) async throws(StoreError) -> [OfferGrant] {
        try await read { store throws(StoreError) in
            try await store.grants(in: app, selection, before: time, limit: limit)
        }
    }

    package func grantsMade(
        by person: OfferGrant.Person, in app: AppScope, since time: Timestamp
    ) async throws(StoreError) -> Int {
        try await read { store throws(StoreError) in try await store.grantsMade(by: person, in: app, since: time) }
    }
}
