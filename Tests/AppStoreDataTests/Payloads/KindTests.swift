import OfferCore
import OfferEligibility
import Testing

@testable import AppStoreData
@testable import AppStoreTestSupport

@Suite("Payload kinds")
struct KindTests {
    static let samples: [(PayloadKind, SamplePayload)] = [
        (.transaction, .transaction), (.renewalInfo, .renewalInfo), (.appTransaction, .appTransaction),
        (.notification, SamplePayload.notifications[0]), (.retentionRequest, .retentionRequest),
    ]

    private static func decode(_ json: [UInt8], as kind: PayloadKind) throws -> any SignedPayload {
        switch kind {
        case .transaction: try SignedTransaction(json: json)
        case .renewalInfo: try RenewalInfo(json: json)
        case .appTransaction: try AppTransaction(json: json)
        case .notification: try AppStoreNotification(json: json)
        case .retentionRequest: try RetentionRequest(json: json)
        }
    }

    private static func merge(_ one: SamplePayload, _ other: SamplePayload) -> SamplePayload {
        other.members.reduce(one) { $0.with($1.name, $1.json) }
    }

    @Test("trap 44: a payload of one kind is refused as any other kind")
    func confusedKinds() throws {
        for (found, sample) in Self.samples {
            for expected in PayloadKind.allCases where expected != found {
                #expect(throws: PayloadError(.wrongKind(expected: expected, found: found))) {
                    try Self.decode(sample.json, as: expected)
                }
            }
            #expect(throws: Never.self) { try Self.decode(sample.json, as: found) }
        }
    }

    @Test("a payload is recognised by its members, and decoded as what it is")
    func recognised() throws {
        for (kind, sample) in Self.samples {
            let object = try PayloadObject(json: sample.json)
            #expect(try object.kind() == kind)
            let payload = try AppStorePayload(object).value
            #expect(type(of: payload).kind == kind)
            #expect(payload.origin.kind == kind)
        }
    }

    @Test("a payload with the members of two kinds is refused as either")
    func ambiguous() throws {
        for (one, sample) in Self.samples {
            for (other, otherSample) in Self.samples where one != other {
                let merged = Self.merge(sample, otherSample).json
                let kinds = PayloadKind.allCases.filter { $0 == one || $0 == other }
                for kind in kinds {
                    do {
                        _ = try Self.decode(merged, as: kind)
                        Issue.record("\(one) with \(other) was accepted")
                    } catch let error as PayloadError {
                        guard case .ambiguous(let found) = error.reason else { throw error }
                        #expect(Set(found).isSuperset(of: kinds))
                    }
                }
                #expect(throws: PayloadError.self) { try PayloadObject(json: merged).kind() }
            }
        }
    }

    @Test("a member of another kind makes no ambiguity by itself")
    func strayMembers() throws {
        let sample = SamplePayload.transaction.with("userLocale", #""en""#).with("receiptType", #""Sandbox""#)
        #expect(try PayloadObject(json: sample.json).kind() == .transaction)
    }

    @Test("without a member that makes its kind, a payload is not recognised", arguments: PayloadKind.allCases)
    func unrecognised(kind: PayloadKind) throws {
        let sample = try #require(Self.samples.first { $0.0 == kind }).1
        for maker in kind.makers {
            for sample in [sample.without(maker.stringValue), sample.with(maker.stringValue, "null")] {
                #expect(throws: PayloadError(.unrecognised)) { try PayloadObject(json: sample.json).kind() }
                #expect(throws: PayloadError(.missing, member: maker.stringValue)) {
                    try Self.decode(sample.json, as: kind)
                }
            }
        }
    }

    @Test("only an object is a payload", arguments: ["[]", "1", "\"a\"", "null", "true"])
    func notAnObject(text: String) {
        #expect(throws: PayloadError(.notAnObject)) { try PayloadObject(json: Array(text.utf8)) }
    }

    @Test("an object of no kind is refused", arguments: ["{}", "{\"a\":1}", "{\"signedPayload\":\"a.b.c\"}"])
    func noKind(text: String) {
        #expect(throws: PayloadError(.unrecognised)) { try AppStorePayload(PayloadObject(json: Array(text.utf8))) }
    }

    @Test("duplicate names, deep nesting and broken JSON are refused")
    func invalidJSON() {
        let sample = SamplePayload.transaction
        let deep = String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
        let duplicate = "{\"transactionId\":\"1\"," + sample.text.dropFirst()
        let nested = sample.with("new", #"{"a":1,"a":2}"#).text
        for (text, reason) in [
            (duplicate, .duplicateName), (nested, .duplicateName), (sample.with("new", deep).text, .tooDeep),
            (sample.text + "x", .trailingText), (String(sample.text.dropLast()), .endsTooEarly), ("", .endsTooEarly),
        ] as [(String, JSONError.Reason)] {
            let error = #expect(throws: PayloadError.self) { try SignedTransaction(json: Array(text.utf8)) }
            guard case .notJSON(let found)? = error?.reason else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(found.reason == reason)
        }
    }

    @Test("a duplicate among hundreds of members is refused", arguments: [2, 63, 64, 65, 200, 1023])
    func manyMembers(count: Int) throws {
        let names = (0..<count).map { "\"new\($0)\":1" }
        _ = try PayloadObject(json: Array("{\(names.joined(separator: ","))}".utf8))
        for duplicate in [names[0], names[count / 2], names[count - 1]] {
            let error = #expect(throws: PayloadError.self) {
                try PayloadObject(json: Array("{\((names + [duplicate]).joined(separator: ","))}".utf8))
            }
            guard case .notJSON(let found)? = error?.reason else { throw CancellationError() }
            #expect(found.reason == .duplicateName)
        }
    }

    @Test("a notification has at most one content")
    func contents() throws {
        let contents = [SamplePayload.data, .summary, .externalPurchaseToken, .appData]
        for (index, one) in contents.enumerated() {
            for other in contents[(index + 1)...] {
                let sample = SamplePayload.notification("TEST", one).with(other.name, other.text)
                #expect(throws: PayloadError(.conflicting(with: other.name), member: one.name)) {
                    try AppStoreNotification(json: sample.json)
                }
                _ = try AppStoreNotification(json: sample.with(other.name, "null").json)
            }
        }
    }

    @Test("unknown types, subtypes, contents, offers and states keep their raw values")
    func unknownValues() throws {
        let data = SamplePayload.data.with("status", "77").with("consumptionRequestReason", #""NEW""#)
        let notification = try AppStoreNotification(
            json: SamplePayload.notification("NEW_TYPE", data).with("subtype", #""""#).json)
        #expect(notification.type.rawValue == "NEW_TYPE")
        #expect(notification.subtype?.rawValue == "")
        guard case .data(let found) = notification.content else { throw CancellationError() }
        #expect(found.status?.rawValue == 77)
        #expect(found.consumptionRequestReason?.rawValue == "NEW")
        let unknown = SamplePayload.notification("NEW_TYPE", data).without("data").with("newData", data.text)
        #expect(try AppStoreNotification(json: unknown.json).content == .unknown)

        var sample = SamplePayload.transaction
        for name in [
            "type", "inAppOwnershipType", "transactionReason", "revocationType", "offerDiscountType", "environment",
            "billingPlanType",
        ] { sample = sample.with(name, #""NEW""#) }
        for name in ["offerType", "revocationReason"] { sample = sample.with(name, "-9223372036854775808") }
        let transaction = try SignedTransaction(json: sample.json)
        #expect(
            [
                transaction.type?.rawValue, transaction.ownership?.rawValue, transaction.reason?.rawValue,
                transaction.revocation?.type?.rawValue, transaction.offer?.discountType?.rawValue,
                transaction.environment?.rawValue, transaction.billingPlanType?.rawValue,
            ] == Array(repeating: "NEW", count: 7))
        #expect(transaction.offer?.type.rawValue == .min)
        #expect(transaction.revocation?.reason?.rawValue == .min)

        let info = try RenewalInfo(
            json: SamplePayload.renewalInfo.with("autoRenewStatus", "2").with("expirationIntent", "6")
                .with("priceIncreaseStatus", "3").json)
        #expect(info.autoRenewStatus.rawValue == 2)
        #expect(info.expirationIntent?.rawValue == 6)
        #expect(info.priceIncreaseStatus?.rawValue == 3)
        let app = try AppTransaction(json: SamplePayload.appTransaction.with("originalPlatform", #""homeOS""#).json)
        #expect(app.originalPlatform?.rawValue == "homeOS")
    }

    @Test("offer type 5 is a retention offer")
    func retentionOffer() throws {
        #expect(
            try SignedTransaction(json: SamplePayload.transaction.with("offerType", "5").json).offer?.type == .retention
        )
    }

    @Test("without a type there is no offer, and without a date no revocation")
    func absentGroups() throws {
        let transaction = try SignedTransaction(
            json: SamplePayload.transaction.without("offerType", "revocationDate").json)
        #expect(transaction.offer == nil)
        #expect(transaction.revocation == nil)
        #expect(try RenewalInfo(json: SamplePayload.renewalInfo.without("offerType").json).offer == nil)
    }

    @Test("an error names the member and never contains its value")
    func errorText() throws {
        let sample = SamplePayload.transaction.with("expiresDate", #""secret""#)
        let error = #expect(throws: PayloadError.self) { try SignedTransaction(json: sample.json) }
        let text = try #require(error).description
        #expect(text.hasPrefix("expiresDate must be "), "\(text)")
        #expect(!text.contains("secret"))
        for (error, text) in [
            (PayloadError(.missing, member: "data.bundleId"), "data.bundleId is missing."),
            (PayloadError(.notAnObject), "The payload is not a JSON object."),
            (
                PayloadError(.wrongKind(expected: .renewalInfo, found: .transaction)),
                "The payload is a transaction, but renewal info is expected."
            ),
            (
                PayloadError(.ambiguous([.transaction, .renewalInfo])),
                "The payload's members match several kinds: a transaction, renewal info."
            ),
            (
                PayloadError(.wrongType(expected: "a string", found: "a number"), member: "bundleId"),
                "bundleId must be a string, but it is a number."
            ),
            (
                PayloadError(.conflicting(with: "summary"), member: "data"),
                "data must not be sent together with summary."
            ),
            (
                PayloadError(.notJSON(JSONError(.duplicateName, at: 7))),
                "The payload is not valid JSON: duplicate member name (byte 7)."
            ),
            (PayloadError(.unrecognised), "The payload's members match no known kind of App Store data."),
        ] { #expect(error.description == text) }
    }
}
