import OfferCore
import OfferEligibility
import Yams

/// Reads the conditions on a customer.
enum CustomerTestReader {
    /// The conditions, by their names in the file.
    enum Name: String, CaseIterable {
        case everSubscribed, usedIntroductoryOffer, refunded, refundPending, redeemed, winBackOffers, owns
        case originalAppVersion, originalPurchase, fact, date, share, environment
    }

    static func read(_ name: Name, _ place: RuleNode, _ reader: inout YAMLReader) -> CustomerTest? {
        switch name {
        case .everSubscribed: return reader.flag(of: place).map { .everSubscribed($0) }
        case .usedIntroductoryOffer: return reader.flag(of: place).map { .usedIntroductoryOffer($0) }
        case .refundPending: return reader.flag(of: place).map { .refundPending($0) }
        case .refunded: return readRefund(place, &reader).map { .refunded($0) }
        case .redeemed: return readRedemption(place, &reader).map { .redeemed($0) }
        case .winBackOffers: return readWinBack(place, &reader).map { .winBackOffers($0) }
        case .owns: return SubscriptionConditionReader.readProducts(place, &reader).map { .owns($0) }
        case .originalAppVersion: return readVersions(place, &reader).map { .originalAppVersion($0) }
        case .originalPurchase:
            return readDates(place, &reader, from: "from", until: "before").map { .originalPurchase($0) }
        case .fact: return readFact(place, &reader).map { .fact($0) }
        case .date: return readDates(place, &reader, from: "from", until: "until").map { .date($0) }
        case .share: return readShare(place, &reader).map { .share($0) }
        case .environment:
            let known = AppStoreEnvironment.known
            return reader.set(of: place, expected: known.map(\.rawValue).joined(separator: ", ")) { text in
                known.first { $0.rawValue == text }
            }.map { .environment($0) }
        }
    }

    /// True if every member that is present could be read.
    private static func isWhole(_ values: Any??...) -> Bool { values.allSatisfy { $0.map { $0 != nil } ?? true } }

    private static func readRefund(_ place: RuleNode, _ reader: inout YAMLReader) -> RefundTest? {
        if place.node.scalar != nil { return reader.flag(of: place).map { RefundTest(expected: $0) } }
        let members = reader.members(of: place, "refunded", known: ["within", "reason"])
        guard members.count == place.node.mapping?.count, !members.isEmpty else { return nil }
        let within = members["within"].map { reader.duration(of: $0) }
        let reasons = members["reason"].map { reader.choices(of: $0, Refund.Reason.self) }
        guard isWhole(within, reasons) else { return nil }
        return RefundTest(within: within ?? nil, reasons: reasons ?? nil)
    }

    private static func readRedemption(_ place: RuleNode, _ reader: inout YAMLReader) -> RedemptionTest? {
        if place.node.scalar != nil {
            return reader.flag(of: place).map { RedemptionTest(count: $0 ? Bounds(atLeast: 1) : Bounds(atMost: 0)) }
        }
        let members = reader.members(of: place, "redeemed", known: ["offer", "within", "count"])
        guard members.count == place.node.mapping?.count, !members.isEmpty else { return nil }
        let offers = members["offer"].map { reader.set(of: $0, expected: "an offer ID") { $0.isEmpty ? nil : $0 } }
        let within = members["within"].map { reader.duration(of: $0) }
        let count = members["count"].map { reader.bounds(of: $0) { $0.count(of: $1) } }
        guard isWhole(offers, within, count) else { return nil }
        return RedemptionTest(offers: offers ?? nil, within: within ?? nil, count: (count ?? nil) ?? Bounds(atLeast: 1))
    }

    private static func readWinBack(_ place: RuleNode, _ reader: inout YAMLReader) -> WinBackTest? {
        switch place.node.scalar?.string {
        case "none"?: WinBackTest.none
        case "any"?: .any
        default:
            reader.set(of: place, expected: "none, any or an offer ID") { $0.isEmpty ? nil : $0 }.map { .offers($0) }
        }
    }

    private static func readVersions(_ place: RuleNode, _ reader: inout YAMLReader) -> VersionRange? {
        let members = reader.members(of: place, "originalAppVersion", known: ["from", "before"])
        guard members.count == place.node.mapping?.count, !members.isEmpty else { return nil }
        func version(_ place: RuleNode) -> AppVersion? {
            place.node.scalar.flatMap { AppVersion($0.string) }
                ?? reader.refuse(place, expected: #"numbers with dots between them, in quotes, such as "3.0""#)
        }
        let (from, before) = (members["from"].map(version), members["before"].map(version))
        guard isWhole(from, before) else { return nil }
        let range = VersionRange(from: from ?? nil, before: before ?? nil)
        if let from = range.from, let before = range.before, from >= before {
            reader.contradict(place, "from is not before before, so this can never hold", hint: "swap them")
        }
        return range
    }

    private static func readDates(
        _ place: RuleNode, _ reader: inout YAMLReader, from: String, until: String
    ) -> DateRange? {
        let members = reader.members(of: place, "a range of dates", known: [from, until])
        guard members.count == place.node.mapping?.count, !members.isEmpty else { return nil }
        let (start, end) = (members[from].map { reader.date(of: $0) }, members[until].map { reader.date(of: $0) })
        guard isWhole(start, end) else { return nil }
        let range = DateRange(from: start ?? nil, until: end ?? nil)
        if range.isEmpty {
            reader.contradict(place, "\(from) is not before \(until), so this can never hold", hint: "swap them")
        }
        return range
    }

    private static func readShare(_ place: RuleNode, _ reader: inout YAMLReader) -> ShareTest? {
        let members = reader.members(of: place, "share", known: ["of", "by"])
        guard let of = members["of"], let by = members["by"] else {
            if place.node.mapping != nil {
                reader.contradict(place, "share needs of and by", hint: "such as {of: 0.9, by: winback_2026}")
            }
            return nil
        }
        guard let share = of.node.scalar.flatMap({ Double($0.string) }), share > 0, share <= 1 else {
            return reader.refuse(of, expected: "a number above 0, and at most 1")
        }
        guard let name = by.node.scalar?.string, (1...64).contains(name.utf8.count) else {
            return reader.refuse(by, expected: "a name of up to 64 bytes; another name makes another sample")
        }
        return ShareTest(share: share, name: name)
    }

    private static let requirements = ["is", "in", "atLeast", "atMost", "before", "after", "exists"]

    private static func readFact(_ place: RuleNode, _ reader: inout YAMLReader) -> TeamFactTest? {
        let members = reader.members(of: place, "fact", known: ["name"] + requirements)
        guard members.count == place.node.mapping?.count else { return nil }
        guard let name = members["name"]?.node.scalar?.string, (1...TeamFact.maximumNameSize).contains(name.utf8.count)
        else {
            reader.contradict(place, "fact needs a name", hint: "such as {name: careTicket, exists: true}")
            return nil
        }
        let given = requirements.filter { members[$0] != nil }
        guard let first = given.first,
            given.count == 1 || [["atLeast", "atMost"], ["before", "after"]].contains(given)
        else {
            reader.contradict(
                place, given.isEmpty ? "nothing is required of the fact" : "too much is required of the fact",
                hint: "write one of is, in and exists, or bounds with atLeast and atMost, or with after and before")
            return nil
        }
        return requirement(first, members, place, &reader).map { TeamFactTest(name: name, $0) }
    }

    private static func requirement(
        _ first: String, _ members: [String: RuleNode], _ place: RuleNode, _ reader: inout YAMLReader
    ) -> TeamFactTest.Requirement? {
        switch first {
        case "exists": return members["exists"].flatMap { reader.flag(of: $0) }.map { .exists($0) }
        case "is", "in":
            guard let value = members[first] else { return nil }
            let scalars = reader.items(of: value).map { item in
                item.node.scalar.map { Self.scalar($0) }
                    ?? reader.refuse(item, expected: "a text, a number, true or false")
            }
            return scalars.contains { $0 == nil } || scalars.isEmpty ? nil : .isOneOf(Set(scalars.compactMap { $0 }))
        case "atLeast", "atMost":
            func number(_ place: RuleNode) -> Double? {
                place.node.scalar.flatMap { Double($0.string) }.flatMap { $0.isFinite ? $0 : nil }
                    ?? reader.refuse(place, expected: "a number")
            }
            let (least, most) = (members["atLeast"].map(number), members["atMost"].map(number))
            guard isWhole(least, most) else { return nil }
            let bounds = Bounds(atLeast: least ?? nil, atMost: most ?? nil)
            if bounds.isEmpty {
                reader.contradict(place, "atLeast is greater than atMost, so this can never hold", hint: "swap them")
            }
            return .number(bounds)
        default:
            let (after, before) = (
                members["after"].map { reader.date(of: $0) }, members["before"].map { reader.date(of: $0) }
            )
            guard isWhole(after, before) else { return nil }
            let range = DateRange(from: after ?? nil, until: before ?? nil)
            if range.isEmpty {
                reader.contradict(place, "after is not before before, so this can never hold", hint: "swap them")
            }
            return .date(range)
        }
    }

    /// A plain scalar has YAML's type; one in quotes is a text.
    private static func scalar(_ scalar: YAMLNode.Scalar) -> TeamFactTest.Scalar {
        guard scalar.style == .plain else { return .text(scalar.string) }
        switch scalar.string {
        case "true": return .bool(true)
        case "false": return .bool(false)
        default:
            // Infinity and NaN are left out: they are texts in JSON too.
            return Double(scalar.string).flatMap { $0.isFinite ? .number($0) : nil } ?? .text(scalar.string)
        }
    }
}
