import OfferCore
import OfferEligibility
import Testing

@testable import AppStoreData
@testable import AppStoreTestSupport

extension SamplePayload {
    /// A notification of version 1 in the form that Apple documents, without a receipt.
    static let legacyNotification = SamplePayload(
        "legacy notification",
        [
            "notification_type": #""DID_CHANGE_RENEWAL_STATUS""#, "password": #""shared-secret""#,
            "environment": #""Sandbox""#, "bid": #""com.example.app""#, "bvrs": #""7""#,
            "auto_renew_status": #""false""#, "auto_renew_status_change_date_ms": #""1750000000000""#,
            "auto_renew_product_id": #""com.example.app.pro.monthly""#, "auto_renew_adam_id": #""9000000001""#,
            "expiration_intent": "1", "original_transaction_id": "2000000000000041",
            "deprecation": #""Mon, 5 Jun 2023 00:00:00 GMT""#, "unified_receipt": unifiedReceipt.text,
        ])

    static let unifiedReceipt = SamplePayload(
        "unified receipt",
        [
            "environment": #""Sandbox""#, "status": "0", "latest_receipt_info": "[]",
            "pending_renewal_info":
                #"[{"original_transaction_id":"7","price_consent_status":"0"},{"original_transaction_id":"2000000000000041","price_consent_status":"1","grace_period_expires_date_ms":"1750000000000"}]"#,
        ])

    /// The same with a receipt.
    /// - Parameter base64: the value of `latest_receipt`.
    func withReceipt(_ base64: String) -> SamplePayload {
        with("unified_receipt", Self.unifiedReceipt.with("latest_receipt", "\"\(base64)\"").text)
    }

    func ofType(_ type: String) -> SamplePayload { with("notification_type", "\"\(type)\"") }

    var legacy: LegacyNotification {
        get throws {
            let value = try JSONReader.read(
                json, maximumCount: LegacyNotification.Limit.count, maximumTotal: LegacyNotification.Limit.total)
            guard case .object(let members) = value else { throw PayloadError(.notAnObject) }
            return try LegacyNotification(members)
        }
    }
}

@Suite("Notifications of version 1")
struct LegacyNotificationTests {
    private static let sample = SamplePayload.legacyNotification

    private static func error(_ sample: SamplePayload) -> PayloadError? {
        do {
            _ = try sample.legacy
            return nil
        } catch { return error as? PayloadError }
    }

    @Test("each member is read")
    func members() throws {
        let notification = try Self.sample.withReceipt("AAAA").legacy
        #expect(notification.type == .didChangeRenewalStatus)
        #expect(notification.bundleID.text.description == "com.example.app")
        #expect(notification.environment == .sandbox)
        #expect(notification.password?.reveal == "shared-secret")
        #expect(notification.latestReceipt == Array("AAAA".utf8))
        #expect(notification.originalTransactionID?.transactionID.text.description == "2000000000000041")
        #expect(notification.autoRenews == false)
        #expect(notification.autoRenewProductID?.text.description == "com.example.app.pro.monthly")
        #expect(notification.expirationIntent == .cancelled)
        #expect(notification.pendingRenewals.map(\.priceConsent) == [.unanswered, .accepted])
        #expect(notification.pendingRenewals.map(\.hasGracePeriod) == [false, true])
    }

    @Test("numbers and booleans may be text, and text numbers")
    func textAndNumbers() throws {
        let other = Self.sample.with("original_transaction_id", #""2000000000000041""#)
            .with("expiration_intent", #""1""#)
        #expect(try other.legacy.originalTransactionID == Self.sample.legacy.originalTransactionID)
        #expect(try other.legacy.expirationIntent == .cancelled)
        for (json, expected) in [
            (#""true""#, true), ("true", true), (#""1""#, true), ("1", true), (#""false""#, false), ("false", false),
            (#""0""#, false), ("2", nil), (#""yes""#, nil), ("[]", nil), ("null", nil),
        ] as [(String, Bool?)] {
            #expect(try Self.sample.with("auto_renew_status", json).legacy.autoRenews == expected, "\(json)")
        }
    }

    @Test("the environment is PROD, Production, Sandbox or unknown, and that of the receipt where there is no other")
    func environments() throws {
        func environment(_ json: String) throws -> AppStoreEnvironment? {
            try Self.sample.with("environment", json).legacy.environment
        }
        #expect(try environment(#""PROD""#) == .production)
        #expect(try environment(#""Production""#) == .production)
        #expect(try environment(#""prod""#) == AppStoreEnvironment(rawValue: "prod"))
        #expect(try Self.sample.without("environment").legacy.environment == .sandbox)
        #expect(try Self.sample.without("environment", "unified_receipt").legacy.environment == nil)
    }

    @Test("members that decide nothing may be missing or wrong")
    func tolerated() throws {
        let described = [
            "auto_renew_status", "auto_renew_product_id", "expiration_intent", "original_transaction_id", "bvrs",
        ]
        let needed = Self.sample.keeping(["notification_type", "bid"])
        #expect(Self.error(needed) == nil)
        for json in ["null", "{}", "[1]", #""""#, "-1.5e3"] {
            let strange = described.reduce(Self.sample) { $0.with($1, json) }
            #expect(try strange.legacy.autoRenewProductID == nil || json == "-1.5e3", "\(json)")
            #expect(try strange.legacy.expirationIntent == nil, "\(json)")
            let unified = SamplePayload.unifiedReceipt.with("pending_renewal_info", "[\(json)]").text
            let pending = try Self.sample.with("unified_receipt", unified).legacy.pendingRenewals
            #expect(pending.allSatisfy { $0.originalTransactionID == nil }, "\(json)")
        }
    }

    @Test(
        "members that decide something are read strictly",
        arguments: [
            ("notification_type", nil), ("notification_type", "1"), ("notification_type", #""""#),
            ("notification_type", "\"\(String(repeating: "A", count: 65))\""), ("bid", nil), ("bid", "[]"),
            ("bid", #""""#), ("password", "1"), ("environment", "true"), ("unified_receipt", #""text""#),
        ] as [(String, String?)])
    func strict(member: String, json: String?) {
        let sample = json.map { Self.sample.with(member, $0) } ?? Self.sample.without(member)
        #expect(Self.error(sample)?.member == member)
    }

    @Test("a receipt that is no text is named by its path")
    func receiptPath() {
        let unified = SamplePayload.unifiedReceipt.with("latest_receipt", "{}").text
        #expect(Self.error(Self.sample.with("unified_receipt", unified))?.member == "unified_receipt.latest_receipt")
    }

    @Test("a body with a type and no signed payload is of version 1")
    func recognition() throws {
        for (json, expected) in [
            (#"{"notification_type":"CANCEL"}"#, true), (#"{"notification_type":1}"#, true), ("{}", false),
            (#"{"notification_type":"CANCEL","signedPayload":"a.b.c"}"#, false), (#"{"signedPayload":""}"#, false),
            (#"{"notificationType":"REFUND"}"#, false),
        ] {
            guard case .object(let members) = try JSONReader.read(Array(json.utf8)) else { continue }
            #expect(LegacyNotification.isLegacy(members) == expected, "\(json)")
        }
    }

    @Test("the JSON of a body with 100 transactions of 30 members is within the limits")
    func largeReceipt() throws {
        let item = "{" + (0..<30).map { "\"member\($0)\":\"1\"" }.joined(separator: ",") + "}"
        let list = "[" + Array(repeating: item, count: 100).joined(separator: ",") + "]"
        let unified = SamplePayload.unifiedReceipt.with("latest_receipt_info", list)
            .with("pending_renewal_info", list).with("latest_receipt", #""AAAA""#)
        #expect(try Self.sample.with("unified_receipt", unified.text).legacy.latestReceipt != nil)
    }

    @Test(
        "each type has the nearest name of version 2",
        arguments: [
            ("INITIAL_BUY", "SUBSCRIBED", "INITIAL_BUY"), ("INTERACTIVE_RENEWAL", "SUBSCRIBED", "RESUBSCRIBE"),
            ("DID_RENEW", "DID_RENEW", nil), ("DID_RECOVER", "DID_RENEW", "BILLING_RECOVERY"),
            ("RENEWAL", "DID_RENEW", "BILLING_RECOVERY"),
            ("DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"),
            ("DID_CHANGE_RENEWAL_STATUS", "DID_CHANGE_RENEWAL_STATUS", nil),
            ("DID_FAIL_TO_RENEW", "DID_FAIL_TO_RENEW", nil), ("CANCEL", "REFUND", nil), ("REFUND", "REFUND", nil),
            ("REVOKE", "REVOKE", nil), ("PRICE_INCREASE_CONSENT", "PRICE_INCREASE", nil),
            ("CONSUMPTION_REQUEST", "CONSUMPTION_REQUEST", nil), ("NEW_IN_2030", "NEW_IN_2030", nil),
        ] as [(String, String, String?)])
    func names(type: String, successor: String, subtype: String?) throws {
        let plain = Self.sample.ofType(type).without("auto_renew_status", "unified_receipt")
        let name = try plain.legacy.name
        #expect(name.type.rawValue == successor && name.subtype?.rawValue == subtype)
        #expect(
            (LegacyNotificationType.successors[LegacyNotificationType(rawValue: type)] == nil)
                == (type == "NEW_IN_2030"))
    }

    @Test("no type is left out of the table")
    func table() { #expect(LegacyNotificationType.successors.count == 13) }

    @Test("the subtype says what only the other members tell")
    func subtypes() throws {
        func subtype(_ sample: SamplePayload) throws -> NotificationSubtype? { try sample.legacy.name.subtype }
        #expect(try subtype(Self.sample) == .autoRenewDisabled)
        #expect(try subtype(Self.sample.with("auto_renew_status", #""true""#)) == .autoRenewEnabled)
        for (type, expected, other) in [
            ("DID_FAIL_TO_RENEW", .gracePeriod, nil), ("PRICE_INCREASE_CONSENT", .accepted, .pending),
        ] as [(String, NotificationSubtype, NotificationSubtype?)] {
            let sample = Self.sample.ofType(type)
            #expect(try subtype(sample) == expected)
            #expect(try subtype(sample.with("original_transaction_id", "7")) == other)
            #expect(try subtype(sample.without("original_transaction_id")) == nil)
        }
    }

    // MARK: Identity

    private static func identity(_ sample: SamplePayload) throws -> String { try sample.legacy.identity().description }

    @Test("the identity is that of the content, whatever its form")
    func identity() throws {
        let identity = try Self.identity(Self.sample)
        #expect(identity.wholeMatch(of: /v1-[0-9a-f]{32}/) != nil)
        #expect(try Self.identity(Self.sample) == identity)
        var reordered = SamplePayload("reordered", [:])
        for member in Self.sample.members.reversed() { reordered = reordered.with(member.name, " \(member.json)\n") }
        #expect(try Self.identity(reordered) == identity)
        #expect(try Self.identity(Self.sample.with("bvrs", #""\u0037""#)) == identity)
    }

    @Test("the identity does not change with the password and says nothing of it")
    func passwordIsLeftOut() throws {
        let identity = try Self.identity(Self.sample)
        #expect(try Self.identity(Self.sample.with("password", #""another""#)) == identity)
        #expect(try Self.identity(Self.sample.without("password")) == identity)
    }

    @Test("every other member makes another identity")
    func otherContent() throws {
        var identities = [try Self.identity(Self.sample)]
        for name in Self.sample.names where name != "password" {
            guard name != "notification_type", name != "bid" else { continue }
            identities.append(try Self.identity(Self.sample.without(name)))
        }
        identities.append(try Self.identity(Self.sample.ofType("CANCEL")))
        identities.append(try Self.identity(Self.sample.with("bid", #""com.example.other""#)))
        identities.append(try Self.identity(Self.sample.withReceipt("AAAA")))
        identities.append(try Self.identity(Self.sample.withReceipt("AAAB")))
        #expect(Set(identities).count == identities.count)
    }

    @Test("values that look alike make different identities")
    func kinds() throws {
        let values = [
            "1", #""1""#, "1.0", "[1]", #"["1"]"#, "[[1]]", "[1,1]", "[[1],1]", "[[1,1]]", #"{"1":1}"#, #"[{"1":1}]"#,
            "null", #""null""#, "true", "false", "[]", "{}", #""""#, #"["",""]"#, #"["s0:"]"#, #"{"a":{},"b":{}}"#,
            #"{"a":{"b":{}}}"#,
        ]
        let identities = try values.map { try Self.identity(Self.sample.with("deprecation", $0)) }
        #expect(Set(identities).count == values.count)
    }
}
