import OfferCore
import OfferCrypto
import TestSupport

/// Signs planned notifications with a chain made for tests. Its keys are throw-away: they protect nothing.
package struct NotificationSigner: Sendable {
    private let chain: TestChain
    private let header: [UInt8]

    /// The file for `SUBSCRIPTION_OFFERS_APP_STORE_ROOTS`.
    package static let rootFile = "root.pem"
    private static let keyFiles = ["root", "intermediate", "leaf"].map { "THROW-AWAY-\($0)-key.pem" }
    private static let certificateFiles = ["root.der", "intermediate.der", "leaf.der"]

    /// Makes a chain and writes it into an empty folder, for later runs too.
    package static func make(in folder: String) throws {
        let keys = try keyFiles.map { _ in try PrivateKeyPEM.generate() }
        let chain = try TestChain(
            rootKey: .p256(pem: keys[0]), intermediateKey: .p256(pem: keys[1]), leafKey: .p256(pem: keys[2]),
            root: { Self.enlarge(&$0, by: 130) }, intermediate: { Self.enlarge(&$0, by: 330) },
            leaf: { Self.enlarge(&$0, by: 540) })
        try LoadFile.create(folder: folder)
        for (name, key) in zip(keyFiles, keys) { try LoadFile.write(key, to: folder + "/" + name) }
        for (name, certificate) in zip(certificateFiles, [chain.root, chain.intermediate, chain.leaf]) {
            try LoadFile.write(certificate, to: folder + "/" + name)
        }
        try LoadFile.write(pem(of: chain.root), to: folder + "/" + rootFile)
        let warning = "The keys in this folder are throw-away. Trust root.pem in tests only.\n"
        try LoadFile.write(Array(warning.utf8), to: folder + "/README.txt")
    }

    /// - Parameter folder: one that ``make(in:)`` has filled.
    package init(folder: String) throws {
        chain = try Self.chain(in: folder)
        header = Array(chain.header.utf8)
    }

    /// A signer of the same chain, but for another leaf.
    /// - Parameter notAfter: when the leaf expires, in seconds since 1970.
    package init(folder: String, leafUntil notAfter: Int64) throws {
        var chain = try Self.chain(in: folder)
        let other = try TestChain(
            rootKey: chain.rootKey, intermediateKey: chain.intermediateKey,
            leaf: { ($0.serialNumber, $0.notAfter) = (7, notAfter) })
        (chain.leafKey, chain.leaf) = (other.leafKey, other.leaf)
        (self.chain, header) = (chain, Array(chain.header.utf8))
    }

    /// The chain that ``make(in:)`` has written.
    static func chain(in folder: String) throws -> TestChain {
        let keys = try Self.keyFiles.map { try TestKey.p256(pem: LoadFile.read(folder + "/" + $0)) }
        let certificates = try Self.certificateFiles.map { try LoadFile.read(folder + "/" + $0) }
        var chain = try TestChain(rootKey: keys[0], intermediateKey: keys[1], leafKey: keys[2])
        (chain.root, chain.intermediate, chain.leaf) = (certificates[0], certificates[1], certificates[2])
        return chain
    }

    /// The body that the App Store would post, of about 17 kB; 6 kB without a purchase.
    package func body(of planned: PlannedNotification) throws -> [UInt8] {
        let content = planned.hasPurchase ? try data(of: planned) : SamplePayload.unclaimInfo(planned.unclaimedSeats)
        var notification = SamplePayload.notification(planned.type, content)
            .with("notificationUUID", "\"\(planned.uuid)\"").with("signedDate", "\(planned.signedDate)")
        if let subtype = planned.subtype { notification = notification.with("subtype", "\"\(subtype)\"") }
        return Array(#"{"signedPayload":"#.utf8) + Array(try member(notification).utf8) + [UInt8(ascii: "}")]
    }

    private func data(of planned: PlannedNotification) throws -> SamplePayload {
        SamplePayload.data.without("consumptionRequestReason").with("status", "\(planned.status)")
            .with("signedTransactionInfo", try member(planned.transaction))
            .with("signedRenewalInfo", try member(planned.renewalInfo))
    }

    package func jws(_ payload: [UInt8]) throws -> [UInt8] { try chain.jws(header: header, payload: payload) }

    /// A payload as the JSON string of a compact JWS.
    private func member(_ payload: SamplePayload) throws -> String {
        "\"" + String(decoding: try jws(payload.json), as: UTF8.self) + "\""
    }

    /// Gives a certificate about the size of Apple's, and a validity that outlasts this program.
    private static func enlarge(_ certificate: inout TestCertificate, by size: Int) {
        certificate.notAfter = 2_400_000_000
        let comment = DER.value(0x16, Array(repeating: UInt8(ascii: "x"), count: size))
        // The comment that Netscape defined. Verifiers ignore it.
        certificate.put(TestCertificate.Extension(oid: "2.16.840.1.113730.1.13", value: comment))
    }

    private static func pem(of der: [UInt8]) -> [UInt8] {
        let text = String(decoding: Base64.text(of: der), as: UTF8.self)
        let lines = stride(from: 0, to: text.utf8.count, by: 64).map { String(text.dropFirst($0).prefix(64)) }
        let all = ["-----BEGIN CERTIFICATE-----"] + lines + ["-----END CERTIFICATE-----", ""]
        return Array(all.joined(separator: "\n").utf8)
    }
}
