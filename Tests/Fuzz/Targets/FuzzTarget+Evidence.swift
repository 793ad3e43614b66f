import Foundation
import OfferCore
import OfferExplanations

extension FuzzTarget {
    /// Evidence for an explanation. The input is a JSON body or, if it contains a line break, the header and the claims
    /// of a JWS.
    static let evidence = FuzzTarget("evidence") { input throws(BrokenPromise) in
        let parts = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let jws = parts.map { Data($0).base64EncodedString() }.joined(separator: ".") + "." + signature
        let body = parts.count == 2 ? Array("{\"compactJWS\":\"\(jws)\"}".utf8) : input
        guard case .object(let members)? = try? JSONReader.read(body), let evidence = try? Evidence(members) else {
            return
        }
        var count = 0
        for accepts in [false, true] {
            guard let id = try? KeyID(utf8: Array("FUZZKEY123".utf8)) else { return }
            let calls = Calls()
            let key = CandidateKey(id: id, standing: .inService) { _, _, _ in
                calls.count += 1
                return accepts
            }
            let explainer = Explainer(
                keys: [key], now: Timestamp(milliseconds: 1_767_225_600_000))
            guard let explanation = try? explainer.explanation(of: evidence) else {
                throw BrokenPromise(promise: "all evidence gets an explanation")
            }
            try promise("no request costs more than 300 verifications", calls.count <= 300)
            for verdict in explanation.verdicts {
                try promise("nothing verifies if no key accepts it", accepts || !verdict.verifies)
                try promise(
                    "every signature that does not verify has a cause", verdict.verifies || verdict.cause != nil)
                try promise(
                    "every signed payload comes with a key ID", verdict.signedPayload == nil || verdict.keyID != nil)
            }
            try promise(
                "Foundation parses every explanation as JSON",
                (try? JSONSerialization.jsonObject(with: Data(explanation.body))) != nil)
            try promise(
                "payloads in an explanation contain no control characters",
                explanation.verdicts.map { $0.payload + ($0.signedPayload ?? "") }.joined().unicodeScalars.allSatisfy {
                    ![.control, .format].contains($0.properties.generalCategory)
                })
            count += calls.count
        }
        try promise("a key that accepts everything ends the search early", count <= 302)
    }

    private static let signature = Data(repeating: 1, count: 64).base64EncodedString()

    // Used by one thread only.
    private final class Calls: @unchecked Sendable {
        var count = 0
    }
}
