import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store reserves the answer to a request for a retention message")
struct RetentionTests {
    private static let holder = CustomerIdentifier.originalTransactionID(Sample.id("1"))

    private static func request(_ number: UInt64) -> UUIDText { UUIDText(high: 7, low: number) }

    private func reservation(
        _ number: UInt64, nonces: [UInt64], at day: Double = 1, outstanding: Int = 1
    ) -> RetentionReservation {
        let offers = nonces.enumerated().map { place, number in
            Sample.offer("offer\(place)", OfferLimits(outstanding: outstanding), nonces: [number], expiresAt: day + 1)
        }
        let forms = offers.indices.map { place in
            RetentionReservation.Form(
                signature: place == 0 ? .v1 : .v2, messageIdentifier: UUIDText(high: 9, low: UInt64(place)))
        }
        return RetentionReservation(
            requestIdentifier: Self.request(number),
            ledger: Sample.request(offers, by: [Self.holder], at: day, reserving: .first), forms: forms)
    }

    private func offer(
        _ store: any SubscriberStore, in app: AppScope = Sample.production, at day: Double = 1
    ) async throws -> RememberedRetentionOffer? {
        try await store.retentionOffer(for: Self.request(1), in: app, at: Sample.day(day))
    }

    private func states(_ store: any SubscriberStore) async throws -> [Authorisation.State] {
        try await store.ledgerEntries(of: [Self.holder], in: Sample.production).authorisations.map(\.state)
    }

    @Test("the first offer that the limits allow is reserved, and a repetition learns it", arguments: StoreEngine.all)
    func repetition(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let now = Sample.day(1)
            #expect(try await offer(store) == nil)
            let first = reservation(1, nonces: [1, 2])
            #expect(try await store.reserve(first) == .new([.reserved, .allowed]))
            guard case .known(let known) = try await store.reserve(reservation(1, nonces: [3, 4])) else {
                Issue.record("nothing was remembered")
                return
            }
            #expect(known.nonce == first.ledger.offers[0].nonces[0] && known.form == .v1)
            #expect(known.offerID.text.description == "offer0" && known.messageIdentifier == UUIDText(high: 9, low: 0))
            #expect(known.at == now && known.expiresAt == Sample.day(2))
            #expect(try await offer(store) == known)
            #expect(try await offer(store, in: Sample.sandbox) == nil)
            // Another request finds the first offer used up.
            #expect(
                try await store.reserve(reservation(2, nonces: [5, 6])) == .new([.refused([.outstanding]), .reserved]))
            #expect(
                try await store.reserve(reservation(3, nonces: [7, 8]))
                    == .new([.refused([.outstanding]), .refused([.outstanding])]))
            #expect(try await states(store) == [.outstanding, .outstanding])
        }
    }

    @Test("what was withdrawn, or is older than ten minutes, is forgotten", arguments: StoreEngine.all)
    func forgetting(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let first = reservation(1, nonces: [1], outstanding: 9)
            _ = try await store.reserve(first)
            try await store.withdraw(first.ledger.offers[0].nonces, in: Sample.production)
            #expect(try await offer(store) == nil)
            #expect(try await store.reserve(reservation(1, nonces: [2], outstanding: 9)) == .new([.reserved]))
            let later = 1 + 600.001 / 86_400
            #expect(try await offer(store, at: later) == nil)
            #expect(
                try await store.reserve(reservation(1, nonces: [3], at: later, outstanding: 9)) == .new([.reserved]))
            try await store.pruneRetentionOffers(before: Sample.day(later))
            #expect(try await offer(store, at: later) != nil)
            try await store.pruneRetentionOffers(before: Sample.day(later + 1))
            #expect(try await offer(store, at: later) == nil)
            #expect(try await states(store) == [.withdrawn, .outstanding, .outstanding], "what is reserved stays")
        }
    }

    @Test("many at the same time reserve once", arguments: StoreEngine.all)
    func concurrent(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let reservations = (1...50).map { reservation(1, nonces: [$0], outstanding: 99) }
            let answers = try await withThrowingTaskGroup(of: RetentionReservationAnswer.self) { group in
                for reservation in reservations { group.addTask { try await store.reserve(reservation) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0 == .new([.reserved]) } == 1)
            let known = Set(answers.compactMap { if case .known(let offer) = $0 { offer.nonce } else { nil } })
            #expect(known.count == 1)
            #expect(try await states(store) == [.outstanding])
        }
    }
}
