import AppStoreData
import OfferCore

extension FuzzTarget {
    static let transaction = payload("transaction", SignedTransaction.self, json: \.json)
    static let renewalInfo = payload("renewal-info", RenewalInfo.self, json: \.json)
    static let appTransaction = payload("app-transaction", AppTransaction.self, json: \.json)
    static let retentionRequest = payload("retention-request", RetentionRequest.self, json: \.json)

    /// A notification. If the input contains line breaks, the other lines are the payloads of the JWS inside, in the order
    /// in which they are verified.
    static let notification = FuzzTarget("notification") { input throws(BrokenPromise) in
        let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Array($0) }
        try checkPayload(lines[0], AppStoreNotification.self) { $0.json }
        guard let notification = try? AppStoreNotification(json: lines[0]) else { return }
        var calls = 0
        let verified: VerifiedNotification
        do throws(NotificationFailure<Unsigned>) {
            verified = try VerifiedNotification(notification, for: FuzzedApps.all) {
                (_, kind) throws(Unsigned) in
                calls += 1
                guard calls < lines.count, let object = try? PayloadObject(json: lines[calls]) else { throw Unsigned() }
                return object
            }
        } catch {
            try promise("no failure quotes a notification", !Marked.isIn("\(error)"))
            return try promise(
                "nothing inside another app's notification is verified",
                calls == 0 || notification.origin.bundleID == FuzzedApps.bundleID)
        }
        try promise("a notification contains two JWS at most", calls <= 2)
        try promise("a notification is about our app", verified.app.bundleID == notification.origin.bundleID)
        try promise("the environment is the notification's", verified.environment == notification.origin.environment)
        try checkContents(of: verified)
    }

    private struct Unsigned: Error {}

    private static func checkContents(of verified: VerifiedNotification) throws(BrokenPromise) {
        let contents = verified.contents
        let environments = [
            contents.transaction?.environment, contents.record?.renewalInfo.environment,
            contents.appTransaction?.environment,
        ]
        try promise(
            "everything inside is from the notification's environment",
            environments.allSatisfy { $0 == nil || $0 == verified.environment })
        for bundleID in [contents.transaction?.bundleID, contents.appTransaction?.bundleID] {
            try promise("everything inside is about our app", bundleID == nil || bundleID == verified.app.bundleID)
        }
        try promise(
            "renewal info belongs to the transaction beside it",
            contents.record.map {
                $0.transaction == contents.transaction
                    && $0.renewalInfo.originalTransactionID == $0.transaction.originalTransactionID
            } ?? true)
    }

    private static func payload<Payload: SignedPayload>(
        _ name: String, _: Payload.Type, json: @escaping @Sendable (Payload) -> [UInt8]?
    ) -> FuzzTarget {
        FuzzTarget(name) { input throws(BrokenPromise) in try checkPayload(input, Payload.self, json) }
    }

    private static func checkPayload<Payload: SignedPayload>(
        _ input: [UInt8], _: Payload.Type, _ json: (Payload) -> [UInt8]?
    ) throws(BrokenPromise) {
        let payload: Payload
        do throws(PayloadError) { payload = try Payload(json: input) } catch {
            return try promise("no error quotes a payload", !Marked.isIn("\(error)") && !Marked.isIn(error.code))
        }
        try promise("the JSON of a payload is kept", json(payload) == input)
        try promise("a payload decodes equal from its own JSON", (try? Payload(json: input)) == payload)
        try promise("the origin is of the payload's kind", payload.origin.kind == Payload.kind)
        guard let object = try? PayloadObject(json: input), let any = try? AppStorePayload(object) else {
            throw BrokenPromise(promise: "a payload of one kind is a payload of any kind")
        }
        try promise("a payload has one kind", (try? object.kind()) == Payload.kind)
        try promise("any kind decodes equal to the one kind", any.value as? Payload == payload)
        // An unknown member changes nothing.
        let start = input.firstIndex(of: UInt8(ascii: "{")).map { $0 + 1 } ?? 0
        let extended = input[..<start] + Array(#""fuzz":[1,{"a":null}],"#.utf8) + input[start...]
        guard object.members["fuzz"] == nil, object.members.members.count < 1000 else { return }
        try promise("an unknown member is ignored", (try? Payload(json: Array(extended)))?.origin == payload.origin)
    }
}
