import Foundation
import Logging
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferIdentity
import OfferService

extension FuzzTarget {
    /// A signed-in user's token. The input is the token as sent or, if it contains a line break, its header and claims.
    /// The target encodes these, so the fuzzer does not have to discover base64.
    static let userToken = FuzzTarget("user-token") { input throws(BrokenPromise) in
        let parts = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let token =
            parts.count == 2
            ? parts.map { base64URL($0) }.joined(separator: ".") + ".c2ln" : String(decoding: input, as: UTF8.self)

        // With a key that refuses every signature, no token is accepted. With a key that accepts every signature, only
        // valid tokens are.
        try promise("a token without a valid signature is refused", answer(to: token, .refusing).status != 200)
        let accepted = answer(to: token, .accepting)
        guard accepted.status == 200 else {
            return try promise("a refused token gets 401 or 413", [401, 413].contains(accepted.status))
        }
        let segments = token.split(separator: ".", omittingEmptySubsequences: false)
        let texts = segments.prefix(2).map { bytes(of: $0) ?? [] }
        guard
            texts.allSatisfy({
                (try? JSONReader.read($0, maximumCount: JSONReader.Limit.claimCount)).map(isWithinDouble) ?? true
            })
        else { return }
        guard segments.count == 3, let header = object(texts[0]), let claims = object(texts[1]) else {
            throw BrokenPromise(promise: "Foundation parses an accepted token as two JSON objects and a signature")
        }
        try promise("the algorithm is allowed", header["alg"] as? String == "ES256")
        try promise("the issuer is the configured issuer", claims["iss"] as? String == "i")
        try promise(
            "the audience includes ours",
            claims["aud"] as? String == "a" || (claims["aud"] as? [String])?.contains("a") == true
        )
        try promise(
            "an accepted token has not expired",
            ((claims["exp"] as? NSNumber)?.doubleValue ?? 0) * 1000 > Double(now.milliseconds))
        let answered = try? JSONSerialization.jsonObject(with: Data(accepted.body)) as? [String: Any]
        try promise(
            "the customer comes from the claim",
            (answered?["applicationUsername"] as? String)?.utf8.elementsEqual((claims["sub"] as? String ?? "").utf8)
                == true)
    }

    private enum Provider: Sendable {
        case accepting
        case refusing
    }

    private static let now = Timestamp(milliseconds: 1_767_225_600_000)

    private static func answer(to token: String, _ provider: Provider) -> HTTPResponse {
        let router = provider == .accepting ? accepting : refusing
        let reply = router.reply(
            to: HTTPRequest(
                method: "POST", target: "/offer", contentType: "application/json", authorization: "Bearer \(token)",
                body: Array(#"{"appBundleID":"a","productID":"p","offerID":"o"}"#.utf8)), shedding: .none)
        guard case .now(let response) = reply else {
            preconditionFailure("without an audit trail, every reply is immediate")
        }
        return response
    }

    private static let accepting = router(verifying: true)
    private static let refusing = router(verifying: false)

    private static func router(verifying holds: Bool) -> Router {
        let log = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
        let place = KeySetLocation.file(path: "keys")
        let issuer = UserIssuer(
            issuer: "i", audience: "a", keys: place, algorithms: [.es256], customer: .applicationUsername("sub"),
            apps: nil)
        let keys = CurrentUserKeys()
        keys.replace(
            UserKeySet([
                UserKeySet.Key(id: nil, algorithm: .es256) { _, _ in holds },
                UserKeySet.Key(id: Array("k".utf8), algorithm: .rs256) { _, _ in holds },
            ]), of: issuer)
        guard let id = try? KeyID(utf8: Array("FUZZKEY123".utf8)), let pem = try? PrivateKeyPEM.generate(),
            let key = try? SigningKey(text: pem)
        else { fatalError("cannot generate a signing key") }
        // The fuzzer would exceed the rate limit for users.
        var limits = Limits()
        limits.users = nil
        let policy = CurrentPolicy(
            Policy(
                ring: KeyRing(active: KeyRing.Key(id: id, pair: key)),
                callers: Callers([], userIssuers: [issuer], usernameSalt: nil),
                limits: limits))
        let sources = SystemInputs(now: { now }, makeNonce: SystemInputs.system.makeNonce)
        var dependencies = Application.Dependencies(policy: policy, sources: sources, log: log)
        dependencies.front.userKeys = keys
        dependencies.front.composeRefusals = { $0() }
        return Application(dependencies).router(for: .all, isOnLoopback: false)
    }

    private static func base64URL(_ bytes: some Collection<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    // Parsed by Foundation, not by our own readers.

    private static func object(_ text: [UInt8]) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(text))) as? [String: Any]
    }

    private static func bytes(of segment: Substring) -> [UInt8]? {
        let base64 = segment.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        return Data(base64Encoded: base64 + padding).map { Array($0) }
    }
}
