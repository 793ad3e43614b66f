import OfferCore
import OfferEligibility
import Testing

@testable import AppStoreData
@testable import AppStoreTestSupport

/// Tests that hold for every member of every kind of payload.
@Suite("Payload members")
struct MemberTests {
    /// A payload, or an object inside a payload.
    struct Case: Sendable, CustomTestStringConvertible {
        let sample: SamplePayload
        let required: [String]
        let known: [String]
        let path: String
        /// Reads the object, wrapped into its payload if it is an inner one.
        let read: @Sendable (SamplePayload) throws -> any SignedPayload

        var testDescription: String { sample.name + (path.isEmpty ? "" : " in \(path)") }
    }

    private static func names<Member: PayloadMember>(_: Member.Type) -> [String] {
        Member.allCases.map(\.stringValue)
    }

    private static func payload<Payload: SignedPayload, Member: PayloadMember>(
        _ sample: SamplePayload, _: Payload.Type, _: Member.Type, required: [String]
    ) -> Case {
        Case(sample: sample, required: required, known: names(Member.self), path: "") { try Payload(json: $0.json) }
    }

    private static func content<Member: PayloadMember>(
        _ sample: SamplePayload, _: Member.Type, required: [String]
    ) -> Case {
        Case(sample: sample, required: required, known: names(Member.self), path: sample.name + ".") {
            try AppStoreNotification(json: SamplePayload.notification("TEST", $0).json)
        }
    }

    static let cases =
        [
            payload(
                .transaction, SignedTransaction.self, SignedTransaction.Member.self,
                required: [
                    "transactionId", "originalTransactionId", "bundleId", "productId", "purchaseDate", "signedDate",
                ]),
            payload(
                .renewalInfo, RenewalInfo.self, RenewalInfo.Member.self,
                required: ["originalTransactionId", "productId", "autoRenewStatus", "signedDate"]),
            payload(
                .appTransaction, AppTransaction.self, AppTransaction.Member.self,
                required: ["receiptType", "bundleId", "receiptCreationDate"]),
            payload(
                .retentionRequest, RetentionRequest.self, RetentionRequest.Member.self,
                required: SamplePayload.retentionRequest.names),
            content(.data, NotificationData.Member.self, required: ["bundleId"]),
            content(.summary, RenewalExtensionSummary.Member.self, required: ["bundleId"]),
            content(
                .externalPurchaseToken, ExternalPurchaseToken.Member.self, required: ["bundleId", "externalPurchaseId"]),
            content(.appData, NotificationAppData.Member.self, required: ["bundleId"]),
            Case(
                sample: .commitment, required: [], known: names(Commitment.Member.self), path: "commitmentInfo.",
                read: { try SignedTransaction(json: SamplePayload.transaction.with("commitmentInfo", $0.text).json) }),
            Case(
                sample: .commitmentRenewal, required: [], known: names(CommitmentRenewal.Member.self),
                path: "commitmentInfo.",
                read: { try RenewalInfo(json: SamplePayload.renewalInfo.with("commitmentInfo", $0.text).json) }),
        ]
        + SamplePayload.notifications.map { sample in
            Case(
                sample: sample, required: ["notificationType", "notificationUUID", "signedDate"],
                known: sample.names, path: "", read: { try AppStoreNotification(json: $0.json) })
        }

    @Test("the samples have every known member", arguments: cases)
    func samplesAreComplete(of test: Case) {
        #expect(test.sample.names.sorted() == test.known.sorted())
    }

    @Test("any one optional member may be missing; a required one is named", arguments: cases)
    func missing(of test: Case) throws {
        for name in test.sample.names {
            for sample in [test.sample.without(name), test.sample.with(name, "null")] {
                if test.required.contains(name) {
                    #expect(throws: PayloadError(.missing, member: test.path + name)) { try test.read(sample) }
                } else {
                    #expect(throws: Never.self) { try test.read(sample) }
                }
            }
        }
    }

    @Test("all optional members may be missing together", arguments: cases)
    func allMissing(of test: Case) throws {
        _ = try test.read(test.sample.keeping(test.required))
    }

    /// Members of which Apple has documented only a part. `DecodingTests` shows that no value of them is refused.
    private static let tentative = ["additionalTransactionReason", "multiSeatInfo", "renewalQuantity"]

    private static let values = [
        "\"text\"": "a string", "17": "a number", "true": "a boolean", "[17]": "an array", "{\"a\":1}": "an object",
    ]

    private static func kind(of json: String) -> String? {
        switch json.first {
        case "\"": "a string"
        case "[": "an array"
        case "{": "an object"
        case "t", "f": "a boolean"
        default: "a number"
        }
    }

    @Test("a value of a wrong type is refused with the member's path", arguments: cases)
    func wrongType(of test: Case) throws {
        for member in test.sample.members {
            guard !Self.tentative.contains(member.name) else { continue }
            for (value, found) in Self.values where found != Self.kind(of: member.json) {
                do {
                    _ = try test.read(test.sample.with(member.name, value))
                    Issue.record("\(value) was accepted as \(member.name)")
                } catch let error as PayloadError {
                    #expect(error.member == test.path + member.name)
                    guard case .wrongType(_, found: found) = error.reason else {
                        Issue.record("\(error)")
                        continue
                    }
                }
            }
        }
    }

    @Test(
        "a number must be whole and fit into 64 bits",
        arguments: cases, ["1.0", "1.5", "1e3", "9223372036854775808", "-9223372036854775809", "1E0"])
    func otherNumbers(of test: Case, number: String) {
        for member in test.sample.members
        where Self.kind(of: member.json) == "a number" && !Self.tentative.contains(member.name) {
            let error = #expect(throws: PayloadError.self) { try test.read(test.sample.with(member.name, number)) }
            #expect(error?.member == test.path + member.name)
        }
    }

    @Test("unknown members of any type are ignored, but stay in the JSON", arguments: cases)
    func unknownMembers(of test: Case) throws {
        var sample = test.sample
        for (index, value) in Self.values.keys.sorted().enumerated() { sample = sample.with("new\(index)", value) }
        sample = sample.with("TransactionId", "1").with("", "null")
        _ = try test.read(sample)
    }

    @Test("a list has strings only, up to 1024")
    func lists() throws {
        let codes = Array(repeating: #""best""#, count: 1024)
        func sample(_ elements: [String]) -> SamplePayload {
            SamplePayload.renewalInfo.with("eligibleWinBackOfferIds", "[" + elements.joined(separator: ",") + "]")
        }
        #expect(try RenewalInfo(json: sample(codes).json).eligibleWinBackOfferIDs.count == 1024)
        let error = #expect(throws: PayloadError.self) { try RenewalInfo(json: sample(codes + ["1"]).json) }
        guard case .notJSON(let reason)? = error?.reason else { throw CancellationError() }
        #expect(reason.reason == .tooMany)
        #expect(
            throws: PayloadError(
                .wrongType(expected: "an array of strings", found: "an array with a number"),
                member: "eligibleWinBackOfferIds")
        ) { try RenewalInfo(json: sample([#""best""#, "1"]).json) }
    }

    @Test(
        "the identifier of a retention request must be a UUID",
        arguments: ["", "7e3fb20b", "7e3fb20b-4cdb-47cc-936d-99d65f60813g"])
    func uuids(text: String) {
        let json = "\"\(text)\""
        #expect(throws: PayloadError(.invalid(.notUUID), member: "requestIdentifier")) {
            try RetentionRequest(json: SamplePayload.retentionRequest.with("requestIdentifier", json).json)
        }
    }

    @Test(
        "an identifier is a text of a bounded size without control characters",
        arguments: ["bundleId", "productId", "transactionId", "originalTransactionId", "appTransactionId"])
    func identifiers(name: String) {
        for (text, reason) in [("", .empty), (#"a\u0000"#, .controlCharacter), (" ", .blank)]
            as [(String, FieldError.Reason)]
        {
            // An optional identifier that is empty counts as absent.
            if name == "appTransactionId", reason == .empty { continue }
            #expect(throws: PayloadError(.invalid(reason), member: name)) {
                try SignedTransaction(json: SamplePayload.transaction.with(name, "\"\(text)\"").json)
            }
        }
        #expect(throws: PayloadError.self) {
            let text = String(repeating: "9", count: 256)
            return try SignedTransaction(json: SamplePayload.transaction.with(name, "\"\(text)\"").json)
        }
    }

    @Test("the identifier of a notification has 1 to 64 bytes")
    func notificationUUID() throws {
        let sample = SamplePayload.notifications[0]
        for (count, isAccepted) in [(0, false), (1, true), (64, true), (65, false)] {
            let json = sample.with("notificationUUID", "\"\(String(repeating: "a", count: count))\"").json
            let notification = try? AppStoreNotification(json: json)
            #expect((notification != nil) == isAccepted)
        }
    }
}
