import AppStoreData
import OfferCore
import OfferCrypto
import OfferEligibility

extension FuzzTarget {
    /// JWS of the App Store. The input is the compact JWS or, if it contains line breaks, its header, its payload and its
    /// signature, so the fuzzer does not have to discover base64. The target itself signs a header and a payload that come
    /// without a signature, so that everything after the signature is reached too.
    static let appStoreJWS = FuzzTarget("app-store-jws") { input throws(BrokenPromise) in
        let parts = input.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
        switch parts.count {
        case 1: try checkForgery(input)
        case 2: try checkSigned(header: Array(parts[0]), payload: Array(parts[1]))
        default: try checkForgery(Array(parts.map { Base64URL.text(of: Array($0)) }.joined(separator: dot)))
        }
    }

    /// Nothing that the fuzzer changes may pass as signed.
    private static func checkForgery(_ text: [UInt8]) throws(BrokenPromise) {
        let end = text.lastIndex(of: UInt8(ascii: ".")) ?? 0
        let isSigned = AppStoreKeys.isGenuine(signingInput: Array(text[..<end]))
        try check(text) { isGenuine throws(BrokenPromise) in
            try promise("only what a trusted chain signed is genuine", isSigned || !isGenuine)
        }
    }

    private static func checkSigned(header: [UInt8], payload: [UInt8]) throws(BrokenPromise) {
        let input = Array([header, payload].map(Base64URL.text).joined(separator: dot))
        guard let der = try? AppStoreKeys.leafKey.sign(input), let signature = RawSignature(der: der) else {
            throw BrokenPromise(promise: "a key signs every text")
        }
        try check(input + dot + Base64URL.text(of: signature.bytes)) { _ throws(BrokenPromise) in }
    }

    private static func check(
        _ text: [UInt8], _ judge: (_ isGenuine: Bool) throws(BrokenPromise) -> Void
    ) throws(BrokenPromise) {
        let verifier = AppStoreVerifier(roots: AppStoreKeys.roots, isDevelopment: true)
        let first = try outcome(of: text, verifier)
        try judge(first.isGenuine)
        // The second time, the chain is known.
        let second = try outcome(of: text, verifier)
        try promise("a known chain changes no outcome", first == second)
        try promise("one JWS makes one chain known", verifier.knownChains.count <= 1)
        let strict = AppStoreVerifier(roots: AppStoreKeys.roots)
        guard case .success(let verified) = result(of: { () throws(DataRefusal) in try strict.verify(text, at: date) })
        else { return }
        try promise("outside development, Xcode signs nothing", !verified.chain.isXcode)
        try promise("the chain ends in the trusted root", verified.chain.root.digest == AppStoreKeys.jws[2].digest)
        try promise("only the trusted leaf signs", verified.chain.leaf.digest == AppStoreKeys.jws[0].digest)
    }

    /// What becomes of a JWS read as any payload, and as a notification of our app.
    private struct Outcome: Equatable {
        let payload: Result<AppStorePayload, DataRefusal>
        /// nil for content that is not known.
        let notification: Result<VerifiedNotification?, DataRefusal>

        var isGenuine: Bool {
            switch payload {
            case .success: true
            case .failure(let refusal): refusal.isGenuine
            }
        }
    }

    private static func outcome(
        of text: [UInt8], _ verifier: AppStoreVerifier
    ) throws(BrokenPromise) -> Outcome {
        let payload = result { () throws(DataRefusal) in try verifier.verify(text, at: date) }
        let notification = result { () throws(DataRefusal) in
            let received = try verifier.receiveNotification(text, for: FuzzedApps.all, at: date)
            if let fault = received.fault { throw fault }
            return received.verified
        }
        for case .failure(let refusal) in [payload.map { _ in () }, notification.map { _ in () }] {
            try promise("a refusal never quotes the data", !Marked.isIn("\(refusal)"))
        }
        if case .success(let verified) = payload { try checkPayload(verified, of: text) }
        if case .success(let verified) = notification {
            let bundleID = verified?.app.bundleID ?? FuzzedApps.bundleID
            try promise("a notification is about our app", bundleID == FuzzedApps.bundleID)
            try promise("a notification is a payload that verifies", (try? payload.get()) != nil)
        }
        return Outcome(payload: payload.map(\.payload), notification: notification)
    }

    private static func checkPayload(
        _ verified: VerifiedData<AppStorePayload>, of text: [UInt8]
    ) throws(BrokenPromise) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        try promise(
            "a verified JWS has three parts, of which the second is the payload",
            parts.count == 3 && Base64URL.text(of: verified.object.json) == Array(parts[1]))
        try promise(
            "a verified payload decodes equal from its own JSON",
            (try? AppStorePayload(PayloadObject(json: verified.object.json))) == verified.payload)
    }

    private static func result<Value>(
        of work: () throws(DataRefusal) -> Value
    ) -> Result<Value, DataRefusal> { Result(catching: work) }

    private static let dot = [UInt8(ascii: ".")]
    private static let date = EffectiveDate.ofSigning(otherwise: AppStoreKeys.now)
}

/// The app that the seeds are about.
enum FuzzedApps {
    static let bundleID = try? BundleID(utf8: Array("com.example.app".utf8))

    static let all: ExpectedApps = {
        let environments: Set<AppStoreEnvironment> = [.production, .sandbox, .xcode]
        guard let bundleID,
            let app = try? ExpectedApp(
                bundleID: bundleID, appAppleID: 1_234_567_890, environments: environments, isDevelopment: true),
            let apps = try? ExpectedApps([app])
        else { fatalError("the app of the samples is valid") }
        return apps
    }()
}
