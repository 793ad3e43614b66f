package import OfferCore
import OfferEligibility

/// A kind of JWS payload that the App Store signs. The raw value is its name on the command line.
///
/// Nothing in a JWS names its kind, so a transaction that is mistaken for renewal info would still have a valid
/// signature. A kind is therefore recognised by members that every payload of that kind has. No payload of another kind
/// has all of them.
package enum PayloadKind: String, CaseIterable, Hashable, Sendable {
    case transaction
    case renewalInfo = "renewal-info"
    case appTransaction = "app-transaction"
    case notification
    case retentionRequest = "retention-request"

    /// The name with an article, for sentences.
    package var title: String {
        switch self {
        case .transaction: "a transaction"
        case .renewalInfo: "renewal info"
        case .appTransaction: "an AppTransaction"
        case .notification: "a notification"
        case .retentionRequest: "a retention message request"
        }
    }

    /// True if Apple names the app's bundle ID in payloads of this kind.
    package var carriesBundleID: Bool { self != .renewalInfo && self != .retentionRequest }

    /// True if Apple names the app's Apple ID in payloads of this kind, at least in production.
    package var carriesAppAppleID: Bool { self != .transaction && self != .renewalInfo }
}

extension PayloadKind {
    /// A member that identifies a kind.
    enum Maker: Int, PayloadMember {
        case appAppleId, autoRenewStatus, bundleId, notificationType, notificationUUID, originalTransactionId,
            productId, purchaseDate, receiptCreationDate, receiptType, requestIdentifier, transactionId, userLocale
    }

    /// The members that identify this kind.
    var makers: [Maker] {
        switch self {
        case .transaction: [.transactionId, .originalTransactionId, .productId, .purchaseDate]
        case .renewalInfo: [.originalTransactionId, .productId, .autoRenewStatus]
        case .appTransaction: [.receiptType, .receiptCreationDate, .bundleId]
        case .notification: [.notificationType, .notificationUUID]
        case .retentionRequest: [.requestIdentifier, .userLocale, .appAppleId, .originalTransactionId, .productId]
        }
    }

    /// - Throws: `.unrecognised` or `.ambiguous`.
    package static func recognise(_ members: JSONObject) throws(PayloadError) -> PayloadKind {
        let present = MakerSet(of: members)
        let kinds = sets.filter { present.isSuperset(of: $0.makers) }
        guard let kind = kinds.first?.kind else { throw PayloadError(.unrecognised) }
        guard kinds.count == 1 else { throw PayloadError(.ambiguous(kinds.map(\.kind))) }
        return kind
    }

    /// Checks that `members` identify this kind and no other.
    func require(of members: JSONObject) throws(PayloadError) {
        let found: PayloadKind
        do { found = try Self.recognise(members) } catch {
            // A missing member is a better hint than an unrecognised payload.
            let present = MakerSet(of: members)
            let missing = makers.first { !present.contains(MakerSet($0)) }
            throw missing.map { PayloadError(.missing, member: $0.stringValue) } ?? error
        }
        guard found == self else { throw PayloadError(.wrongKind(expected: self, found: found)) }
    }

    private static let sets = allCases.map { kind in (kind: kind, makers: MakerSet(kind.makers.map(MakerSet.init))) }
}

/// The makers that are present in a payload, one bit each.
private struct MakerSet: OptionSet {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    init(_ maker: PayloadKind.Maker) { rawValue = 1 << UInt32(maker.rawValue) }

    init(of members: JSONObject) {
        self = []
        for member in members.members {
            guard let place = Self.index.place(of: member.name) else { continue }
            if case .null = member.value { continue }
            formUnion(MakerSet(rawValue: 1 << UInt32(place)))
        }
    }

    private static let index = MemberIndex<PayloadKind.Maker>()
}
