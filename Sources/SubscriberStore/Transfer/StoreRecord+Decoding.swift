import OfferCore
import OfferEligibility

extension StoreRecord {
    init(_ reader: RecordReader, name: Name) throws(TransferError) {
        switch name {
        case .intake: self = .intake(try Intake(reader))
        case .fact: self = .fact(try AppScope(reader), try SubscriberFact(reader))
        case .identifier:
            let original = try reader.field("originalTransactionID") { try TransactionID(utf8: $0) }
            self = .identifier(try AppScope(reader), try reader.identifier("identifier"), of: original)
        case .notification: self = .notification(try NotificationEntry(reader))
        case .teamFact: self = .teamFact(try AppScope(reader), try TeamFact(reader))
        case .trackedFact: self = .trackedFact(try AppScope(reader), try TrackedFact(reader))
        case .link:
            guard let account = try reader.identifier("account").account else {
                throw TransferError("account is invalid")
            }
            let link = CustomerLink(identifier: try reader.identifier("identifier"), account: account)
            self = .link(try AppScope(reader), link, setAt: try reader.time("setAt"))
        case .authorisation: self = .authorisation(try AppScope(reader), try AuthorisationEntry(reader))
        case .exposure: self = .exposure(try AppScope(reader), try Exposure(reader))
        case .retentionShown: self = .retentionShown(try AppScope(reader), try RetentionShown(reader))
        case .offerEvent: self = .offerEvent(try AppScope(reader), try OfferEvent(reader))
        case .grant: self = .grant(try AppScope(reader), try OfferGrant(reader))
        case .mailedLink: self = .mailedLink(try AppScope(reader), try MailedLink(reader))
        case .linkVisits: self = .linkVisits(try AppScope(reader), try LinkVisits(reader))
        case .sampleSize: self = .sampleSize(try SampleSize(reader))
        }
    }
}

extension AppScope {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        self.init(
            bundleID: try reader.field("bundleID") { try BundleID(utf8: $0) },
            environment: AppStoreEnvironment(rawValue: try reader.text("environment")))
    }
}

extension Intake {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        self.init(
            app: try AppScope(reader), notifications: try reader.count("notifications"),
            subscriptions: try reader.count("subscriptions"),
            erasedSubscriptions: try reader.count("erasedSubscriptions"),
            lastReceivedAt: try reader.optionalTime("lastReceivedAt"),
            lastSignedDate: try reader.optionalTime("lastSignedDate"))
    }
}

extension SubscriberFact {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        guard let kind = Kind(rawValue: try reader.count("kind")) else { throw TransferError("kind is unknown") }
        let key = Key(kind: kind, id: try reader.field("id") { try TransactionID(utf8: $0) })
        let original = try reader.field("originalTransactionID") { try TransactionID(utf8: $0) }
        let (signedDate, digest) = (try reader.time("signedDate"), try reader.base64("digest"))
        let encoded = try reader.base64("value")
        do {
            try self.init(
                key: key, originalTransactionID: original, signedDate: signedDate, digest: digest, encoded: encoded)
        } catch {
            throw TransferError("value is invalid")
        }
    }
}

extension NotificationEntry {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        let notification = NotificationRecord(
            notificationUUID: try reader.field("notificationUUID") { utf8 in
                try FieldText(utf8: utf8, field: "notificationUUID", sizes: 1...64)
            },
            type: try reader.text("type"), subtype: reader.object["subtype"] == nil ? nil : try reader.text("subtype"),
            signedDate: try reader.time("signedDate"), receivedAt: try reader.time("receivedAt"))
        var subscriptions: [TransactionID] = []
        for utf8 in try reader.texts("subscriptions") {
            guard let id = try? TransactionID(utf8: utf8) else { throw TransferError("subscriptions is invalid") }
            subscriptions.append(id)
        }
        var forwards: [ForwardEntry] = []
        for reader in try reader.records("forwards") { forwards.append(try ForwardEntry(reader)) }
        self.init(
            app: try AppScope(reader), notification: notification,
            body: reader.object["body"] == nil ? nil : try reader.base64("body"), subscriptions: subscriptions,
            forwards: forwards)
    }
}

extension ForwardEntry {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        self.init(
            receiver: try reader.text("receiver"), failures: try reader.count("failures"),
            diedAt: try reader.optionalTime("diedAt"))
    }
}

extension AuthorisationEntry {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        guard let state = Authorisation.State(rawValue: try reader.text("state")) else {
            throw TransferError("state is unknown")
        }
        let authorisation = Authorisation(
            productID: try reader.field("productID") { try ProductID(utf8: $0) },
            offerID: try reader.field("offerID") { try OfferID(utf8: $0) }, state: state, at: try reader.time("at"),
            expiresAt: try reader.time("expiresAt"), validUntil: try reader.optionalTime("validUntil"),
            source: reader.object["channel"] == nil ? nil : try OfferSource(reader))
        var holders: [CustomerIdentifier] = []
        for reader in try reader.records("holders") { holders.append(try reader.identifier("identifier")) }
        self.init(
            id: try reader.field("nonce") { try Nonce(utf8: $0) }, authorisation: authorisation, holders: holders,
            twin: try reader.optionalNonce("twin"), slot: try reader.optionalNonce("slot"))
    }
}

extension SampleSize {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        guard let share = Double(try reader.text("share")), share > 0, share <= 1 else {
            throw TransferError("share is not a number above 0, and at most 1")
        }
        self.init(
            app: try AppScope(reader), sample: try reader.text("sample"), share: share, since: try reader.time("since"))
    }
}

extension Exposure {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        let arm = try Arm(reader)
        var place: SamplePlace?
        if reader.object["sample"] != nil {
            guard case .bool(let isInSample)? = reader.object["isInSample"] else {
                throw TransferError("isInSample is missing or not a boolean")
            }
            place = SamplePlace(sample: try reader.text("sample"), isInSample: isInSample)
        }
        self.init(
            subject: try RecordedCustomer(reader),
            productID: try reader.field("productID") { try ProductID(utf8: $0) },
            offerID: reader.object["offerID"] == nil ? nil : try reader.field("offerID") { try OfferID(utf8: $0) },
            arm: arm, place: place, source: try OfferSource(reader),
            placement: reader.object["placement"] == nil ? nil : try reader.text("placement"),
            rulesDigest: try reader.base64("rulesDigest"), at: try reader.time("at"))
    }
}

extension RecordedCustomer {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        self =
            reader.object["erased"] == nil
            ? .customer(try reader.identifier("customer")) : .erased(try reader.base64("erased"))
    }
}

extension OfferEvent {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        guard let kind = Kind(rawValue: try reader.text("event")) else { throw TransferError("event is unknown") }
        self.init(
            subject: try RecordedCustomer(reader),
            kind: kind, productID: try reader.field("productID") { try ProductID(utf8: $0) },
            offerID: try reader.field("offerID") { try OfferID(utf8: $0) }, at: try reader.time("at"),
            error: reader.object["error"] == nil ? nil : try reader.text("error"),
            nonce: reader.object["nonce"] == nil ? nil : try reader.field("nonce") { try Nonce(utf8: $0) })
    }
}

extension OfferGrant {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        let (approval, withdrawal) = (try reader.act("approved"), try reader.act("withdrawn"))
        let needsApproval = try reader.bool("needsApproval")
        self.init(
            id: try reader.uuid("grant"), subject: try RecordedCustomer(reader),
            account: reader.object["account"] == nil ? nil : try reader.identifier("account").account,
            productID: try reader.field("productID") { try ProductID(utf8: $0) },
            offerID: try reader.field("offerID") { try OfferID(utf8: $0) },
            purpose: Purpose(
                reason: try reader.text("reason"), note: try reader.optionalText("note"),
                ticket: try reader.optionalText("ticket")),
            liftsLimits: try reader.bool("liftsLimits"),
            maker: Person(try reader.text("madeBy"), subject: try reader.optionalText("madeBySubject")),
            at: try reader.time("madeAt"), expiresAt: try reader.time("expiresAt"),
            approval: approval.map(Approval.given) ?? (needsApproval ? .needed : .notNeeded),
            withdrawal: withdrawal)
    }
}

extension Exposure.Arm {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        guard let arm = Self(rawValue: try reader.text("arm")) else { throw TransferError("arm is unknown") }
        self = arm
    }
}

extension MailedLink {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        guard let id = Hexadecimal.bytes(of: try reader.text("mailedLink"), count: Self.idSize) else {
            throw TransferError("mailedLink is not \(Self.idSize) bytes in hexadecimal")
        }
        self.init(
            id: id, campaign: try reader.text("campaign"), subject: try RecordedCustomer(reader),
            arm: try Exposure.Arm(reader),
            offer: Campaign.Offer(
                productID: try reader.field("productID") { try ProductID(utf8: $0) },
                offerID: try reader.field("offerID") { try OfferID(utf8: $0) }),
            madeAt: try reader.time("madeAt"), expiresAt: try reader.time("expiresAt"),
            claimedAt: try reader.optionalTime("claimedAt"))
    }
}

extension LinkVisits {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        self.init(
            campaign: try reader.text("campaign"), day: try reader.number("day"),
            isPersonal: try reader.bool("isPersonal"), count: try reader.number("count"))
    }
}

extension RecordReader {
    fileprivate func act(_ name: String) throws(TransferError) -> OfferGrant.Act? {
        guard let at = try optionalTime("\(name)At") else { return nil }
        return OfferGrant.Act(
            by: OfferGrant.Person(try text("\(name)By"), subject: try optionalText("\(name)BySubject")), at: at)
    }

    fileprivate func optionalText(_ name: String) throws(TransferError) -> String? {
        object[name] == nil ? nil : try text(name)
    }

    fileprivate func bool(_ name: String) throws(TransferError) -> Bool {
        guard case .bool(let value)? = object[name] else { throw TransferError("\(name) is missing or not a boolean") }
        return value
    }
}

extension RetentionShown {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        self.init(
            requestIdentifier: try reader.uuid("requestIdentifier"),
            subject: reader.object["erased"] == nil
                ? .subscription(try reader.field("originalTransactionID") { try TransactionID(utf8: $0) })
                : .erased(try reader.base64("erased")),
            answer: try reader.text("answer"), reason: try reader.text("reason"),
            messageIdentifier: reader.object["messageIdentifier"] == nil ? nil : try reader.uuid("messageIdentifier"),
            productID: reader.object["productID"] == nil
                ? nil : try reader.field("productID") { try ProductID(utf8: $0) },
            offerID: reader.object["offerID"] == nil ? nil : try reader.field("offerID") { try OfferID(utf8: $0) },
            rule: reader.object["rule"] == nil ? nil : try reader.text("rule"), caseNumber: try reader.optionalCase,
            at: try reader.time("at"))
    }
}

extension RecordReader {
    /// The place of a retention case in the configuration.
    fileprivate var optionalCase: Int64? {
        get throws(TransferError) { object["case"] == nil ? nil : try number("case") }
    }

    fileprivate func uuid(_ name: String) throws(TransferError) -> UUIDText {
        guard let uuid = UUIDText(parsing: try utf8(name)) else { throw TransferError("\(name) is not a UUID") }
        return uuid
    }
}

extension OfferSource {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        guard let channel = Channel(rawValue: try reader.text("channel")) else {
            throw TransferError("channel is unknown")
        }
        self.init(
            rule: reader.object["rule"] == nil ? nil : try reader.text("rule"), channel: channel,
            retentionCase: try reader.optionalCase)
    }
}

extension RecordReader {
    fileprivate func optionalNonce(_ name: String) throws(TransferError) -> Nonce? {
        object[name] == nil ? nil : try field(name) { try Nonce(utf8: $0) }
    }
}

extension TeamFact {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        self.init(
            identifier: try reader.identifier("identifier"), name: try reader.factName,
            value: try TeamFactValue(reader), setAt: try reader.time("setAt"))
    }
}

extension TrackedFact {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        let isRemoved = reader.object["removed"] != nil
        self.init(
            identifier: try reader.identifier("identifier"), name: try reader.factName,
            value: isRemoved ? nil : try TeamFactValue(reader), at: try reader.time("at"))
    }
}

extension RecordReader {
    fileprivate var factName: FieldText {
        get throws(TransferError) {
            try field("name") { utf8 in
                try FieldText(utf8: utf8, field: "name", sizes: 1...TeamFact.maximumNameSize)
            }
        }
    }
}

extension TeamFactValue {
    fileprivate init(_ reader: RecordReader) throws(TransferError) {
        if reader.object["text"] != nil {
            self = .text(try reader.utf8("text"))
        } else if reader.object["number"] != nil {
            self = .number(try reader.utf8("number"))
        } else if case .bool(let value)? = reader.object["bool"] {
            self = .bool(value)
        } else {
            throw TransferError("the value is missing")
        }
    }
}

extension RecordReader {
    fileprivate func identifier(_ name: String) throws(TransferError) -> CustomerIdentifier {
        guard case .object(let object)? = object[name], let member = object.members.first else {
            throw TransferError("\(name) is missing or not an object")
        }
        let reader = RecordReader(object: object)
        return try reader.field(String(decoding: member.name, as: UTF8.self)) { utf8 in
            switch String(decoding: member.name, as: UTF8.self) {
            case "appAccountToken": CustomerIdentifier(try Customer(appAccountToken: utf8))
            case "applicationUsername": CustomerIdentifier(try Customer(applicationUsername: utf8))
            case "appTransactionID": .appTransactionID(try TransactionID(utf8: utf8))
            case "originalTransactionID": .originalTransactionID(try TransactionID(utf8: utf8))
            case "transactionID": .transactionID(try TransactionID(utf8: utf8))
            default: throw TransferError("\(name) is of an unknown kind")
            }
        }
    }
}
