package import OfferCore
package import OfferEligibility
package import SubscriberStore

/// Values for tests of a store, as short as a test wants them.
package enum Sample {
    package static let production = app(.production)
    package static let sandbox = app(.sandbox)

    package static func app(_ environment: AppStoreEnvironment) -> AppScope {
        AppScope(bundleID: bundleID, environment: environment)
    }

    package static let bundleID = valid { try BundleID(utf8: Array("com.example.app".utf8)) }

    package static func id(_ text: String) -> TransactionID { valid { try TransactionID(utf8: Array(text.utf8)) } }

    package static func text(_ text: String) -> FieldText {
        valid { try FieldText(utf8: Array(text.utf8), field: "text", sizes: 1...512) }
    }

    package static func token(_ number: UInt64) -> UUIDText { UUIDText(high: 0xABCD, low: number) }

    package static func account(_ number: UInt64) -> CustomerIdentifier { .appAccountToken(token(number)) }

    package static func nonce(_ number: UInt64) -> Nonce {
        var random = Counter(number: number)
        return Nonce(using: &random)
    }

    /// Gives its number, and the next ones.
    private struct Counter: RandomNumberGenerator {
        var number: UInt64

        mutating func next() -> UInt64 {
            defer { number += 1 << 32 }
            return number
        }
    }

    /// A time in days since the beginning of a test.
    package static func day(_ days: Double) -> Timestamp {
        Timestamp(milliseconds: 1_760_000_000_000 + Int64((days * 86_400_000).rounded()))
    }

    private static func valid<Value>(_ make: () throws -> Value) -> Value {
        do { return try make() } catch { fatalError("a sample is invalid: \(error)") }
    }
}

// MARK: Facts

extension Sample {
    /// A transaction of a monthly subscription.
    /// - Parameter start: the purchase date, in days.
    package static func transaction(
        _ id: String, of original: String, _ start: Double = 0, _ end: Double = 30, signed: Double? = nil,
        _ change: (inout Purchase) -> Void = { _ in }
    ) -> SubscriberFact {
        var purchase = Purchase(
            productID: valid { try ProductID(utf8: Array("monthly".utf8)) }, purchaseDate: day(start))
        purchase.type = .autoRenewableSubscription
        purchase.subscriptionGroupID = "21012345"
        purchase.expiresDate = day(end)
        purchase.webOrderLineItemID = "2000000\(id)"
        purchase.ownership = .purchased
        purchase.reason = id == original ? .purchase : .renewal
        purchase.price = 9990
        change(&purchase)
        return fact(.transaction(purchase), id, of: original, signed: signed ?? start)
    }

    package static func renewal(
        of original: String, signed: Double, _ change: (inout Renewal) -> Void = { _ in }
    ) -> SubscriberFact {
        let product = valid { try ProductID(utf8: Array("monthly".utf8)) }
        var renewal = Renewal(productID: product, autoRenewStatus: .on)
        renewal.autoRenewProductID = product
        change(&renewal)
        return fact(.renewalInfo(renewal), original, of: original, signed: signed)
    }

    package static func status(_ number: Int64, of original: String, signed: Double) -> SubscriberFact {
        fact(.status(SubscriptionStatus(rawValue: number)), original, of: original, signed: signed)
    }

    package static func fact(
        _ value: SubscriberFact.Value, _ id: String, of original: String, signed: Double, digest: [UInt8]? = nil
    ) -> SubscriberFact {
        func fact(_ digest: [UInt8]) -> SubscriberFact {
            SubscriberFact(
                value, transactionID: Self.id(id), originalTransactionID: Self.id(original), signedDate: day(signed),
                digest: digest)
        }
        return fact(digest ?? self.digest(fact([]).encoded))
    }

    /// A history of a subscription's Apple Account that the App Store gave as complete.
    package static func history(of original: String, at time: Timestamp) -> SubscriberFact {
        SubscriberFact(
            .wholeHistory("r"), transactionID: id(original), originalTransactionID: id(original), signedDate: time,
            digest: digest(Array("r".utf8)))
    }

    /// 32 bytes that depend on the content alone.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return (0..<32).map { UInt8(truncatingIfNeeded: hash >> UInt64($0 % 8 * 8)) }
    }
}

// MARK: The ledger

extension Sample {
    /// A promotional offer of `monthly`, as the ledger counts it.
    package static func offer(
        _ identifier: String = "half", _ limits: OfferLimits = OfferLimits(perCustomer: .init(count: 1)),
        nonces: [UInt64], expiresAt day: Double, validUntil: Double? = nil, source: OfferSource? = nil,
        exposures: [Exposure] = []
    ) -> LedgerRequest.Offer {
        LedgerRequest.Offer(
            productID: valid { try ProductID(utf8: Array("monthly".utf8)) },
            offerID: valid { try OfferID(utf8: Array(identifier.utf8)) }, limits: limits, nonces: nonces.map(nonce),
            expiresAt: Self.day(day), validUntil: validUntil.map(Self.day), source: source, exposures: exposures)
    }

    /// The answer to a request for a retention message.
    package static func shown(
        _ number: UInt64, of original: TransactionID? = nil, answer: String = "message", offer: String? = nil
    ) -> RetentionShown {
        RetentionShown(
            requestIdentifier: UUIDText(high: 0xEE, low: number), subject: .subscription(original ?? id("\(number)")),
            answer: answer, reason: "rules", messageIdentifier: UUIDText(high: 1, low: number),
            productID: offer.map { _ in valid { try ProductID(utf8: Array("monthly".utf8)) } },
            offerID: offer.map { offer in valid { try OfferID(utf8: Array(offer.utf8)) } }, rule: "r", caseNumber: 2,
            at: day(1))
    }

    /// An exposure to the offer `half`.
    package static func exposure(
        of customer: CustomerIdentifier, _ arm: Exposure.Arm, _ offer: String = "half", sample: String? = nil,
        at day: Double = 1
    ) -> Exposure {
        Exposure(
            subject: .customer(customer), productID: valid { try ProductID(utf8: Array("monthly".utf8)) },
            offerID: valid { try OfferID(utf8: Array(offer.utf8)) }, arm: arm,
            place: sample.map { SamplePlace(sample: $0, isInSample: arm == .offered) },
            source: OfferSource(rule: "r", channel: .decision), rulesDigest: Array(repeating: 7, count: 32),
            at: Self.day(day))
    }

    /// A request to reserve all of these offers, by default for account 1.
    package static func request(
        _ offers: [LedgerRequest.Offer], by holders: [CustomerIdentifier] = [account(1)], at day: Double,
        reserving: LedgerRequest.Reserving = .all, in app: AppScope = production
    ) -> LedgerRequest {
        LedgerRequest(app: app, holders: holders, offers: offers, reserving: reserving, at: Self.day(day))
    }
}

// MARK: Deliveries

extension Sample {
    package static func record(_ uuid: String, received: Double = 0, type: String = "DID_RENEW") -> NotificationRecord {
        NotificationRecord(
            notificationUUID: text(uuid), type: type, subtype: nil, signedDate: day(received), receivedAt: day(received)
        )
    }

    package static func delivery(
        _ uuid: String, _ facts: [SubscriberFact], in app: AppScope = production, received: Double = 0,
        body: String? = nil, to receivers: [String] = []
    ) -> Delivery {
        Delivery(
            app: app, notification: record(uuid, received: received), body: Array((body ?? "body of \(uuid)").utf8),
            facts: facts, receivers: receivers)
    }

    /// - Parameter silent: the digests of signed texts that give no facts.
    package static func reread(
        _ payload: StoredPayload, _ facts: [SubscriberFact], silent: Set<[UInt8]> = []
    ) -> RereadPayload {
        RereadPayload(id: payload.id, facts: facts, digests: silent.union(facts.map(\.digest)))
    }

    /// The facts of a typical notification: a transaction, a renewal info and a status.
    package static func facts(
        _ number: Int, account: UInt64? = nil, appleAccount: TransactionID? = nil, signed: Double = 0
    ) -> [SubscriberFact] {
        let original = "2000000\(100_000_000 + number)"
        let token = Self.token(account ?? UInt64(number))
        let appleAccount = appleAccount ?? id("7041234567890\(100_000_000 + number)")
        return [
            transaction(original, of: original, signed: signed) {
                $0.appAccountToken = token
                $0.appTransactionID = appleAccount
            },
            renewal(of: original, signed: signed) {
                $0.appAccountToken = token
                $0.appTransactionID = appleAccount
            },
            status(1, of: original, signed: signed),
        ]
    }
}
