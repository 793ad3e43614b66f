import Foundation
import OfferSignerClient

/// Signs transactions as the App Store does, with certificates of its own, which the service is told to trust.
final class AppStoreSigner: Sendable {
    let folder: TemporaryFolder
    private let header: String

    /// A root certificate in DER.
    var rootPath: String { folder.path("root.der") }

    init() throws {
        folder = try TemporaryFolder()
        // The object identifiers are those by which Apple marks its intermediate and its signing certificates.
        try folder.write(
            """
            [root]
            basicConstraints = critical, CA:true
            keyUsage = critical, keyCertSign, cRLSign
            subjectKeyIdentifier = hash
            [intermediate]
            basicConstraints = critical, CA:true, pathlen:0
            keyUsage = critical, keyCertSign, cRLSign
            subjectKeyIdentifier = hash
            authorityKeyIdentifier = keyid
            1.2.840.113635.100.6.2.1 = DER:0500
            [leaf]
            basicConstraints = critical, CA:false
            keyUsage = critical, digitalSignature
            subjectKeyIdentifier = hash
            authorityKeyIdentifier = keyid
            1.2.840.113635.100.6.11.1 = DER:0500
            """, to: "extensions")
        var certificates: [String] = []
        for (name, issuer) in [("root", "root"), ("intermediate", "root"), ("leaf", "intermediate")] {
            let path = folder.path
            try Program.run([
                "openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=Test \(name)", "-keyout", path(name + ".key"), "-out", path(name + ".csr"),
            ])
            let signer =
                name == issuer
                ? ["-signkey", path("root.key")] : ["-CA", path(issuer + ".pem"), "-CAkey", path(issuer + ".key")]
            try Program.run(
                [
                    "openssl", "x509", "-req", "-in", path(name + ".csr"), "-days", "30", "-sha256", "-extfile",
                    path("extensions"), "-extensions", name, "-out", path(name + ".pem"),
                ] + signer)
            try Program.run([
                "openssl", "x509", "-in", path(name + ".pem"), "-outform", "DER", "-out", path(name + ".der"),
            ])
            certificates.append(try Data(contentsOf: URL(fileURLWithPath: path(name + ".der"))).base64EncodedString())
        }
        header = #"{"alg":"ES256","x5c":["\#(certificates.reversed().joined(separator: #"",""#))"]}"#
    }

    /// A subscription of a customer in production, bought a day ago for thirty days.
    func transaction(_ number: Int, of token: UUID) throws -> String {
        let now = Int(Date().timeIntervalSince1970) * 1000
        let payload = #"""
            {"transactionId":"\#(2_000_000_000_000 + number)","originalTransactionId":"\#(2_000_000_000_000 + number)",\#
            "bundleId":"\#(Fixtures.bundleID)","productId":"\#(Fixtures.productID)",\#
            "subscriptionGroupIdentifier":"\#(Fixtures.groupID)","purchaseDate":\#(now - 86_400_000),\#
            "originalPurchaseDate":\#(now - 86_400_000),"expiresDate":\#(now + 29 * 86_400_000),"quantity":1,\#
            "type":"Auto-Renewable Subscription","appAccountToken":"\#(token.uuidString.lowercased())",\#
            "inAppOwnershipType":"PURCHASED","signedDate":\#(now),"environment":"Production",\#
            "transactionReason":"PURCHASE","storefront":"USA","storefrontId":"143441","price":9990,"currency":"USD",\#
            "appTransactionId":"\#(704_000_000_000 + number)"}
            """#
        return try jws(payload)
    }

    /// The renewal info of the same subscription, which renews.
    func renewalInfo(_ number: Int, of token: UUID) throws -> String {
        let now = Int(Date().timeIntervalSince1970) * 1000
        return try jws(
            #"""
            {"originalTransactionId":"\#(2_000_000_000_000 + number)","autoRenewProductId":"\#(Fixtures.productID)",\#
            "productId":"\#(Fixtures.productID)","autoRenewStatus":1,"signedDate":\#(now),"environment":"Production",\#
            "recentSubscriptionStartDate":\#(now - 86_400_000),"renewalDate":\#(now + 29 * 86_400_000),\#
            "renewalPrice":9990,"currency":"USD","appAccountToken":"\#(token.uuidString.lowercased())",\#
            "appTransactionId":"\#(704_000_000_000 + number)"}
            """#)
    }

    /// What a device of the customer knows.
    func proofs(_ number: Int, of token: UUID) throws -> DeviceProofs {
        DeviceProofs(
            signedTransactions: [try transaction(number, of: token)],
            signedRenewalInfos: [try renewalInfo(number, of: token)], environment: "Production")
    }

    private func jws(_ payload: String) throws -> String {
        let input = [header, payload].map { Fixtures.base64URL(Data($0.utf8)) }.joined(separator: ".")
        let der = try Program.run(
            ["openssl", "dgst", "-sha256", "-sign", folder.path("leaf.key")], input: Data(input.utf8))
        return input + "." + Fixtures.base64URL(Self.raw(Array(der)))
    }

    /// The numbers of a DER signature, 32 bytes each.
    static func raw(_ der: [UInt8]) -> Data {
        let r = Array(der[4..<4 + Int(der[3])])
        let s = Array(der[(6 + r.count)...])
        return Data([r, s].flatMap { ([UInt8](repeating: 0, count: 32) + $0).suffix(32) })
    }
}
