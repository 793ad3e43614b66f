import OfferCore
import OfferEligibility

extension StoreRecord {
    /// The record as a line of JSON, without the line feed.
    package var line: [UInt8] {
        var writer = JSONWriter()
        writer.member("record", name.rawValue)
        switch self {
        case .intake(let intake): writer.members(of: intake)
        case .fact(let app, let fact):
            writer.members(of: app)
            writer.members(of: fact)
        case .identifier(let app, let identifier, let original):
            writer.members(of: app)
            writer.member("identifier", of: identifier)
            writer.member("originalTransactionID", utf8: original.text.utf8)
        case .notification(let entry): writer.members(of: entry)
        case .teamFact(let app, let fact):
            writer.members(of: app)
            writer.members(of: fact)
        case .trackedFact(let app, let fact):
            writer.members(of: app)
            writer.members(of: fact)
        case .link(let app, let link, let setAt):
            writer.members(of: app)
            writer.member("identifier", of: link.identifier)
            writer.member("account", of: CustomerIdentifier(link.account))
            writer.member("setAt", setAt.milliseconds)
        case .authorisation(let app, let entry):
            writer.members(of: app)
            writer.members(of: entry)
        case .exposure(let app, let exposure):
            writer.members(of: app)
            writer.members(of: exposure)
        case .retentionShown(let app, let shown):
            writer.members(of: app)
            writer.members(of: shown)
        case .offerEvent(let app, let event):
            writer.members(of: app)
            writer.members(of: event)
        case .grant(let app, let grant):
            writer.members(of: app)
            writer.members(of: grant)
        case .mailedLink(let app, let link):
            writer.members(of: app)
            writer.members(of: link)
        case .linkVisits(let app, let visits):
            writer.members(of: app)
            writer.member("campaign", visits.campaign)
            writer.member("day", visits.day)
            writer.member("isPersonal", visits.isPersonal)
            writer.member("count", visits.count)
        case .sampleSize(let size):
            writer.members(of: size.app)
            writer.member("sample", size.sample)
            writer.member("share", "\(size.share)")
            writer.member("since", size.since.milliseconds)
        }
        return writer.finish()
    }

    var name: Name {
        switch self {
        case .intake: .intake
        case .fact: .fact
        case .identifier: .identifier
        case .notification: .notification
        case .teamFact: .teamFact
        case .trackedFact: .trackedFact
        case .link: .link
        case .authorisation: .authorisation
        case .exposure: .exposure
        case .retentionShown: .retentionShown
        case .offerEvent: .offerEvent
        case .grant: .grant
        case .mailedLink: .mailedLink
        case .linkVisits: .linkVisits
        case .sampleSize: .sampleSize
        }
    }

    /// The value of the member `record` in a line.
    enum Name: String, CaseIterable {
        case intake, fact, identifier, notification, teamFact, link, authorisation, exposure, retentionShown,
            offerEvent, grant, mailedLink, linkVisits, sampleSize, trackedFact
    }
}

extension JSONWriter {
    fileprivate mutating func members(of app: AppScope) {
        member("bundleID", utf8: app.bundleID.text.utf8)
        member("environment", app.environment.rawValue)
    }

    fileprivate mutating func members(of intake: Intake) {
        members(of: intake.app)
        member("notifications", Int64(intake.notifications))
        member("subscriptions", Int64(intake.subscriptions))
        member("erasedSubscriptions", Int64(intake.erasedSubscriptions))
        if let time = intake.lastReceivedAt { member("lastReceivedAt", time.milliseconds) }
        if let time = intake.lastSignedDate { member("lastSignedDate", time.milliseconds) }
    }

    fileprivate mutating func members(of fact: SubscriberFact) {
        member("kind", Int64(fact.key.kind.rawValue))
        member("id", utf8: fact.key.id.text.utf8)
        member("originalTransactionID", utf8: fact.originalTransactionID.text.utf8)
        member("signedDate", fact.signedDate.milliseconds)
        member("digest", utf8: Base64.text(of: fact.digest))
        member("value", utf8: Base64.text(of: fact.encoded))
    }

    fileprivate mutating func members(of entry: NotificationEntry) {
        members(of: entry.app)
        let notification = entry.notification
        member("notificationUUID", utf8: notification.notificationUUID.utf8)
        member("type", notification.type)
        if let subtype = notification.subtype { member("subtype", subtype) }
        member("signedDate", notification.signedDate.milliseconds)
        member("receivedAt", notification.receivedAt.milliseconds)
        if let body = entry.body { member("body", utf8: Base64.text(of: body)) }
        member("subscriptions", entry.subscriptions.map(\.text.description))
        objects("forwards", entry.forwards) { writer, forward in
            writer.member("receiver", forward.receiver)
            writer.member("failures", Int64(forward.failures))
            if let time = forward.diedAt { writer.member("diedAt", time.milliseconds) }
        }
    }

    fileprivate mutating func members(of fact: TeamFact) {
        member("identifier", of: fact.identifier)
        member("name", utf8: fact.name.utf8)
        member(of: fact.value)
        member("setAt", fact.setAt.milliseconds)
    }

    fileprivate mutating func members(of fact: TrackedFact) {
        member("identifier", of: fact.identifier)
        member("name", utf8: fact.name.utf8)
        if let value = fact.value { member(of: value) } else { member("removed", true) }
        member("at", fact.at.milliseconds)
    }

    private mutating func member(of value: TeamFactValue) {
        switch value {
        case .text(let utf8): member("text", utf8: utf8)
        case .number(let utf8): member("number", utf8: utf8)
        case .bool(let value): member("bool", value)
        }
    }

    fileprivate mutating func members(of entry: AuthorisationEntry) {
        let authorisation = entry.authorisation
        member("nonce", "\(entry.id)")
        member("productID", utf8: authorisation.productID.text.utf8)
        member("offerID", utf8: authorisation.offerID.text.utf8)
        member("state", authorisation.state.rawValue)
        member("at", authorisation.at.milliseconds)
        member("expiresAt", authorisation.expiresAt.milliseconds)
        member("validUntil", authorisation.validUntil.milliseconds)
        if let source = authorisation.source { members(of: source) }
        if let twin = entry.twin { member("twin", "\(twin)") }
        if let slot = entry.slot { member("slot", "\(slot)") }
        objects("holders", entry.holders) { writer, holder in writer.member("identifier", of: holder) }
    }

    fileprivate mutating func members(of exposure: Exposure) {
        member(of: exposure.subject)
        member("productID", utf8: exposure.productID.text.utf8)
        if let offerID = exposure.offerID { member("offerID", utf8: offerID.text.utf8) }
        member("arm", exposure.arm.rawValue)
        if let place = exposure.place {
            member("sample", place.sample)
            member("isInSample", place.isInSample)
        }
        members(of: exposure.source)
        if let placement = exposure.placement { member("placement", placement) }
        member("rulesDigest", utf8: Base64.text(of: exposure.rulesDigest))
        member("at", exposure.at.milliseconds)
    }

    fileprivate mutating func members(of shown: RetentionShown) {
        member("requestIdentifier", utf8: shown.requestIdentifier.utf8)
        switch shown.subject {
        case .subscription(let id): member("originalTransactionID", utf8: id.text.utf8)
        case .erased(let value): member("erased", utf8: Base64.text(of: value))
        }
        member("answer", shown.answer)
        member("reason", shown.reason)
        if let id = shown.messageIdentifier { member("messageIdentifier", utf8: id.utf8) }
        if let id = shown.productID { member("productID", utf8: id.text.utf8) }
        if let id = shown.offerID { member("offerID", utf8: id.text.utf8) }
        if let rule = shown.rule { member("rule", rule) }
        if let number = shown.caseNumber { member("case", number) }
        member("at", shown.at.milliseconds)
    }

    fileprivate mutating func members(of event: OfferEvent) {
        member(of: event.subject)
        member("event", event.kind.rawValue)
        member("productID", utf8: event.productID.text.utf8)
        member("offerID", utf8: event.offerID.text.utf8)
        member("at", event.at.milliseconds)
        if let error = event.error { member("error", error) }
        if let nonce = event.nonce { member("nonce", "\(nonce)") }
    }

    fileprivate mutating func members(of grant: OfferGrant) {
        member("grant", utf8: grant.id.utf8)
        member(of: grant.subject)
        if let account = grant.account { member("account", of: CustomerIdentifier(account)) }
        member("productID", utf8: grant.productID.text.utf8)
        member("offerID", utf8: grant.offerID.text.utf8)
        member("reason", grant.purpose.reason)
        if let note = grant.purpose.note { member("note", note) }
        if let ticket = grant.purpose.ticket { member("ticket", ticket) }
        member("liftsLimits", grant.liftsLimits)
        members("made", by: grant.maker, at: grant.at)
        member("expiresAt", grant.expiresAt.milliseconds)
        member("needsApproval", grant.approval != .notNeeded)
        if case .given(let act) = grant.approval { members("approved", by: act.person, at: act.at) }
        if let act = grant.withdrawal { members("withdrawn", by: act.person, at: act.at) }
    }

    fileprivate mutating func members(of link: MailedLink) {
        member("mailedLink", Hexadecimal.text(of: link.id))
        member("campaign", link.campaign)
        member(of: link.subject)
        member("arm", link.arm.rawValue)
        member("productID", utf8: link.offer.productID.text.utf8)
        member("offerID", utf8: link.offer.offerID.text.utf8)
        member("madeAt", link.madeAt.milliseconds)
        member("expiresAt", link.expiresAt.milliseconds)
        if let claimedAt = link.claimedAt { member("claimedAt", claimedAt.milliseconds) }
    }

    private mutating func members(_ act: String, by person: OfferGrant.Person, at time: Timestamp) {
        member("\(act)By", person.name)
        if let subject = person.subject { member("\(act)BySubject", subject) }
        member("\(act)At", time.milliseconds)
    }

    fileprivate mutating func members(of source: OfferSource) {
        if let rule = source.rule { member("rule", rule) }
        member("channel", source.channel.rawValue)
        if let number = source.retentionCase { member("case", number) }
    }

    fileprivate mutating func member(of customer: RecordedCustomer) {
        switch customer {
        case .customer(let identifier): member("customer", of: identifier)
        case .erased(let value): member("erased", utf8: Base64.text(of: value))
        }
    }

    fileprivate mutating func member(_ name: String, of identifier: CustomerIdentifier) {
        object(name) { writer in
            switch identifier {
            case .appAccountToken(let token): writer.member("appAccountToken", utf8: token.utf8)
            case .applicationUsername(let text): writer.member("applicationUsername", utf8: text.utf8)
            case .appTransactionID(let id): writer.member("appTransactionID", utf8: id.text.utf8)
            case .originalTransactionID(let id): writer.member("originalTransactionID", utf8: id.text.utf8)
            case .transactionID(let id): writer.member("transactionID", utf8: id.text.utf8)
            }
        }
    }
}
