import AppStoreData
import Foundation
import OfferCore
import OfferCrypto
import OfferHTTP

extension FuzzTarget {
    /// The route that receives notifications, with a real database. The input is the body of a request. After a first line with
    /// the word `payload`, it is the payload of a notification, which the target itself signs with the genuine chain.
    static let notificationIntake = FuzzTarget("app-store-notification-intake") { input throws(BrokenPromise) in
        let marker = Array("payload\n".utf8)
        guard input.starts(with: marker) else { return try checkBody(input, mayBeGenuine: isGenuine(body: input)) }
        try checkBody(try signedBody(Array(input.dropFirst(marker.count))), mayBeGenuine: true)
    }

    private static func checkBody(_ body: [UInt8], mayBeGenuine: Bool) throws(BrokenPromise) {
        guard let intake = FuzzedIntake.shared else { throw BrokenPromise(promise: "the service can be built") }
        let before = intake.storedCount
        let first = intake.post(body)
        try checkResponse(first)
        let isStored = first.status == 200
        try promise(
            "only what a trusted chain signed, or who knows the shared secret sent, is stored",
            mayBeGenuine || !isStored)
        let isNew = outcome(of: first) == "stored"
        try promise(
            "a new notification adds one, anything else nothing", intake.storedCount == before + (isNew ? 1 : 0))
        let second = intake.post(body)
        try promise("a repeat gets the same status", second.status == first.status)
        try promise("a repeat of what is stored is known", !isStored || outcome(of: second) == "known")
        try promise("a repeat adds nothing", intake.storedCount == before + (isNew ? 1 : 0))
        intake.forgetBodies()
    }

    private static func checkResponse(_ response: HTTPResponse) throws(BrokenPromise) {
        try promise("a status of the contract", [200, 400, 403, 422, 503].contains(response.status))
        let text = String(decoding: response.body, as: UTF8.self)
        try promise("a refusal never quotes the data", response.status == 200 || !Marked.isIn(text))
        try promise(
            "only the date of signing keeps a working service from answering",
            response.status != 503 || text.contains(#""reason":"signed_in_future""#))
    }

    private static func outcome(of response: HTTPResponse) -> String? {
        guard case .object(let members)? = try? JSONReader.read(response.body),
            case .string(let outcome)? = members["outcome"]
        else { return nil }
        return String(decoding: outcome, as: UTF8.self)
    }

    /// Whether the chain of the samples has signed the notification in a body, or one of version 1 has the shared secret.
    private static func isGenuine(body: [UInt8]) -> Bool {
        let limits = LegacyNotification.Limit.self
        guard
            case .object(let members)? = try? JSONReader.read(
                body, maximumCount: limits.count, maximumTotal: limits.total)
        else { return false }
        guard !LegacyNotification.isLegacy(members) else {
            return members["password"] == .string(Array(FuzzedIntake.sharedSecret.utf8))
        }
        guard case .string(let text)? = members["signedPayload"], let end = text.lastIndex(of: UInt8(ascii: "."))
        else { return false }
        return AppStoreKeys.isGenuine(signingInput: Array(text[..<end]))
    }

    private static func signedBody(_ payload: [UInt8]) throws(BrokenPromise) -> [UInt8] {
        let certificates = AppStoreKeys.jws.map { "\"\(Data($0.der).base64EncodedString())\"" }.joined(separator: ",")
        let header = Array(#"{"alg":"ES256","x5c":[\#(certificates)]}"#.utf8)
        let input = Base64URL.text(of: header) + [UInt8(ascii: ".")] + Base64URL.text(of: payload)
        guard let der = try? AppStoreKeys.leafKey.sign(input), let signature = RawSignature(der: der) else {
            throw BrokenPromise(promise: "a key signs every text")
        }
        let jws = input + [UInt8(ascii: ".")] + Base64URL.text(of: signature.bytes)
        return Array(#"{"signedPayload":""#.utf8) + jws + Array(#""}"#.utf8)
    }
}
