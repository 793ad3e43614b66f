import Foundation
import OfferCore
import OfferCrypto
import OfferEligibility
import TestSupport

@testable import AppStoreTestSupport

/// The seeds of the fuzz targets for App Store data, and what those targets must know of the keys that signed them.
struct FuzzSamples {
    private let jws: SampleChain
    private let receipts: ReceiptSigner
    /// The certificate with which Xcode would sign a JWS.
    private let xcodeKey: TestKey
    private let xcode: [UInt8]
    /// Genuine JWS. ECDSA draws randomness, and a notification contains signatures, so each is made once.
    private var signed: [String: [UInt8]] = [:]

    init() throws {
        jws = try SampleChain()
        receipts = try ReceiptSigner.standard.get()
        xcodeKey = try .p256()
        xcode = try TestCertificate(
            subject: "StoreKit", issuer: "StoreKit", publicKey: xcodeKey.publicKey,
            extensions: [.basicConstraints(isCA: true), .keyUsage(0x84)]
        ).signed(by: xcodeKey)
        signed = try makeSigned()
    }

    /// - Parameter folder: Tests/Fuzz.
    func write(to folder: URL) throws {
        let corpora = [
            "app-store-jws": try jwsSeeds(), "certificate": try certificateSeeds(), "cms": try messageSeeds(),
            "receipt-payload": payloadSeeds(), "ocsp-response": try responseSeeds(),
            "transaction": json(transactions), "renewal-info": json(renewals), "app-transaction": json(appTransactions),
            "retention-request": json([.retentionRequest, marked(.retentionRequest, "userLocale")]),
            "notification": notificationSeeds(), "legacy-receipt": legacySeeds(),
            "legacy-notification": try legacyNotificationSeeds(),
        ]
        for (target, seeds) in corpora {
            let corpus = folder.appending(path: "Corpora/\(target)")
            try FileManager.default.createDirectory(at: corpus, withIntermediateDirectories: true)
            for (name, bytes) in seeds { try Data(bytes).write(to: corpus.appending(path: name)) }
        }
        try Data(try source().utf8).write(to: folder.appending(path: "Targets/AppStore/AppStoreSamples.swift"))
    }

    // MARK: JWS

    private func makeSigned() throws -> [String: [UInt8]] {
        let secret = marked(.transaction, "storefront")
        let xcodeTransaction = secret.with("environment", #""Xcode""#).with("signedDate", "1761130767123.456")
        let appData = SamplePayload.appData.with(
            "signedAppTransactionInfo", SampleChain.quoted(try jws.jws(.appTransaction)))
        return [
            "transaction": try jws.jws(secret), "renewal-info": try jws.jws(marked(.renewalInfo, "currency")),
            "app-transaction": try jws.jws(marked(.appTransaction, "deviceVerification")),
            "retention-request": try jws.jws(.retentionRequest), "notification": try jws.notification(),
            "app-data": try jws.jws(.notification("RESCIND_CONSENT", appData)),
            "unrecognised": try jws.jws(SamplePayload.transaction.keeping(["signedDate", "bundleId"])),
            "wrong-member": try jws.jws(secret.with("quantity", #""MarkedSecret""#)),
            "xcode": try jws.chain.jws(
                header: jws.chain.header(x5c: [xcode]), payload: xcodeTransaction.text, key: xcodeKey),
            "plain-transaction": try jws.jws(.transaction), "plain-renewal-info": try jws.jws(.renewalInfo),
            "plain-app-transaction": try jws.jws(.appTransaction),
        ]
    }

    private func jwsSeeds() throws -> [String: [UInt8]] {
        var seeds: [String: [UInt8]] = [:]
        for (name, text) in signed where !name.hasPrefix("plain") {
            let parts = text.split(separator: UInt8(ascii: ".")).map { Base64URL.bytes(of: $0) ?? [] }
            seeds[name] = Array(parts.joined(separator: [UInt8(ascii: "\n")]))
            // The target signs what has two parts.
            seeds["to-sign-" + name] = Array(parts.prefix(2).joined(separator: [UInt8(ascii: "\n")]))
        }
        seeds["compact"] = signed["plain-transaction"]
        seeds["compact-notification"] = signed["notification"]
        seeds["another-key"] = try jws.chain.jws(payload: SamplePayload.transaction.text, key: .p256())
        seeds["two-certificates"] = try jws.chain.jws(
            header: jws.chain.header(x5c: [jws.chain.leaf, jws.chain.intermediate]))
        seeds["critical"] = try jws.chain.jws(
            header: jws.chain.header(x5c: [jws.chain.leaf], rest: #","crit":["b64"]"#))
        return seeds
    }

    // MARK: Certificates and receipts

    private func certificateSeeds() throws -> [String: [UInt8]] {
        let marked = TestCertificate(
            subject: "MarkedSecret", issuer: "MarkedSecret", publicKey: xcodeKey.publicKey,
            extensions: [.nameConstraints(isCritical: true), .ocspResponders("http://MarkedSecret/", "ldap://x")])
        return [
            "leaf": jws.chain.leaf, "intermediate": jws.chain.intermediate, "root": jws.chain.root,
            "rsa-leaf": receipts.chain.leaf, "rsa-intermediate": receipts.chain.intermediate,
            "rsa-root": receipts.chain.root, "xcode": xcode, "marked": try marked.signed(by: xcodeKey),
            "pem": Array((pem(jws.chain.leaf) + "\n" + pem(jws.chain.root)).utf8),
        ]
    }

    /// Receipts whose signatures are valid.
    private func signedMessages() throws -> [String: TestMessage] {
        let receipt = Self.receipt
        var segmented = try receipts.message(receipt)
        segmented.encoding = .ber(segment: 64)
        return [
            "receipt": try receipts.message(receipt), "segments": segmented,
            "attributes": try receipts.message(
                receipt, attributes: ReceiptSigner.attributes(of: receipt.payload)),
            "xcode": try ReceiptSigner.xcode.get().message(.xcode(purchases: [TestReceipt.Purchase()])),
            "empty": try receipts.message(content: DER.set([])),
            "sha1": try receipts.message(content: receipt.payload, digest: "sha1"),
        ]
    }

    private func messageSeeds() throws -> [String: [UInt8]] {
        var seeds = try signedMessages().mapValues(\.encoded)
        var damaged = try receipts.message(Self.receipt)
        damaged.signers[0].signature[0] ^= 1
        seeds["damaged"] = damaged.encoded
        var detached = try receipts.message(Self.receipt)
        detached.isDetached = true
        seeds["detached"] = detached.encoded
        seeds["attributes-as-content"] = try attributesAsContent().encoded
        return seeds
    }

    /// A receipt with signed attributes is also a valid signature over those attributes as content.
    private func attributesAsContent() throws -> TestMessage {
        let attributes = try ReceiptSigner.attributes(of: Self.receipt.payload)
        return try receipts.message(content: DER.set(attributes.flatMap { $0 }))
    }

    private static let receipt: TestReceipt = {
        var receipt = TestReceipt(purchases: [
            TestReceipt.Purchase(), TestReceipt.Purchase(transactionID: "MarkedSecret"),
        ])
        receipt.put(.text(3, "MarkedSecret"))
        return receipt
    }()

    private func payloadSeeds() -> [String: [UInt8]] {
        var (wrongDate, twice, wrongNumber) = (Self.receipt, Self.receipt, Self.receipt)
        wrongDate.put(.date(12, "MarkedSecret"))
        twice.attributes.append(.text(2, "MarkedSecret"))
        wrongNumber.put(.text(1, "MarkedSecret"))
        return [
            "receipt": Self.receipt.payload, "no-purchases": TestReceipt().payload, "empty": DER.set([]),
            "xcode": TestReceipt.xcode(purchases: [TestReceipt.Purchase()]).payload, "wrong-date": wrongDate.payload,
            "twice": twice.payload, "wrong-number": wrongNumber.payload,
        ]
    }

    // MARK: OCSP

    private func responseSeeds() throws -> [String: [UInt8]] {
        let leaf = try X509Certificate(der: jws.chain.leaf)
        let intermediate = try X509Certificate(der: jws.chain.intermediate)
        let request = try OCSPRequest.der(about: leaf, issuedBy: intermediate)
        let (key, now) = (try TestKey.p256(), TestTime.now)
        let delegate = try TestCertificate(
            subject: "Test OCSP", issuer: "Test Developer Relations CA", publicKey: key.publicKey,
            extensions: [.keyUsage(0x80), .init(oid: "2.5.29.37", value: DER.sequence(DER.oid("1.3.6.1.5.5.7.3.9")))]
        ).signed(by: jws.chain.intermediateKey)
        let (issuer, delegated) = (
            jws.chain.leafResponder, TestResponder(name: "Test OCSP", key: key, certificate: delegate)
        )
        var seeds = [
            "good": try issuer.response(to: request, .good, from: now, until: now + 3600),
            "revoked": try issuer.response(to: request, .revoked(date: now - 9), from: now, until: now + 3600),
            "unknown": try issuer.response(to: request, .unknown, from: now, until: now + 3600),
            "no-next-update": try issuer.response(to: request, .good, from: now, until: nil),
            "delegate": try delegated.response(to: request, .good, from: now, until: now + 3600),
            "try-later": [0x30, 0x03, 0x0A, 0x01, 0x03],
        ]
        // The target signs what begins with ResponseData.
        for (name, response) in seeds where response.count > 5 {
            // OCSPResponse, after the status the explicit tag, ResponseBytes, after the type the octets, BasicResponse.
            let bytes = DER.content(of: DER.content(of: Array(DER.content(of: response)[3...])))
            let basic = DER.content(of: DER.content(of: Array(bytes[(2 + Int(bytes[1]))...])))
            seeds["to-sign-" + name] = DER.value(0x30, DER.content(of: basic))
        }
        return seeds
    }

    // MARK: Payloads

    private func marked(_ sample: SamplePayload, _ member: String) -> SamplePayload {
        sample.with(member, #""MarkedSecret""#)
    }

    private var transactions: [SamplePayload] {
        [
            .transaction, marked(.transaction, "storefront"), marked(.transaction, "quantity"),
            SamplePayload.transaction.with("environment", #""Xcode""#).with("signedDate", "1761130767123.5"),
            SamplePayload.transaction.without("price", "offerType", "environment", "revocationDate"),
        ]
    }

    private var renewals: [SamplePayload] {
        [.renewalInfo, marked(.renewalInfo, "currency"), marked(.renewalInfo, "eligibleWinBackOfferIds")]
    }

    private var appTransactions: [SamplePayload] {
        [.appTransaction, marked(.appTransaction, "deviceVerification"), marked(.appTransaction, "preorderDate")]
    }

    private func json(_ samples: [SamplePayload]) -> [String: [UInt8]] {
        Dictionary(uniqueKeysWithValues: samples.enumerated().map { ("\($0).json", $1.json) })
    }

    /// A notification, and on lines of their own the payloads of the JWS inside.
    private func notificationSeeds() -> [String: [UInt8]] {
        let purchase = SamplePayload.notification("DID_RENEW", .data)
        let sandbox = SamplePayload.data.with("environment", #""Sandbox""#)
        let inSandbox = [SamplePayload.transaction, .renewalInfo].map { $0.with("environment", #""Sandbox""#) }
        let other = SamplePayload.data.with("bundleId", #""com.MarkedSecret""#)
        var seeds: [String: [SamplePayload]] = [
            "purchase": [purchase, .transaction, .renewalInfo], "swapped": [purchase, .renewalInfo, .transaction],
            "sandbox": [.notification("EXPIRED", sandbox)] + inSandbox,
            "mixed": [purchase] + inSandbox, "other": [.notification("DID_RENEW", other), .transaction, .renewalInfo],
            "consent": [SamplePayload.notifications[3], .appTransaction],
        ]
        for (index, notification) in SamplePayload.notifications.enumerated() { seeds["\(index)"] = [notification] }
        return seeds.mapValues { Array($0.map(\.json).joined(separator: [UInt8(ascii: "\n")])) }
    }

    private func legacySeeds() -> [String: [UInt8]] {
        let list = { (id: String) in
            Base64.text(of: Array("{\n\t\"bid\" = \"com.example.app\";\n\t\"transaction-id\" = \"\(id)\";\n}".utf8))
        }
        let receipt = { (info: [UInt8]) in
            Array(
                #"{ "signature" = "MarkedSecret"; "purchase-info" = "\#(String(decoding: info, as: UTF8.self))"; "pod" = "1"; }"#
                    .utf8)
        }
        return [
            "good": receipt(list("1000000042")), "no-id": receipt(Base64.text(of: Array(#"{"a" = "b";}"#.utf8))),
            "wrong-id": receipt(list("")), "not-base64": receipt(Array("MarkedSecret".utf8)),
            "list": Array(#""transaction-id" = "MarkedSecret";"#.utf8),
        ]
    }

    /// Notifications of version 1 with the shared secret of the target's app.
    private func legacyNotificationSeeds() throws -> [String: [UInt8]] {
        let sample = SamplePayload.legacyNotification.with("password", #""secret""#)
        let base64 = { (bytes: [UInt8]) in String(decoding: Base64.text(of: bytes), as: UTF8.self) }
        let receipt = base64(try receipts.message(Self.receipt).encoded)
        return [
            "receipt.json": sample.withReceipt(receipt).json, "plain.json": sample.json,
            "production.json": sample.with("environment", #""PROD""#).withReceipt(receipt).json,
            "transaction-receipt.json": sample.withReceipt(base64(legacySeeds()["good"] ?? [])).json,
            "wrong-password.json": marked(sample, "password").withReceipt(receipt).json,
            "other.json": sample.with("bid", #""com.MarkedSecret""#).json,
            "wrong-member.json": marked(sample, "unified_receipt").json,
        ]
    }

    // MARK: What the targets know

    private func pem(_ der: [UInt8], _ label: String = "CERTIFICATE") -> String {
        let text = Array(Base64.text(of: der))
        let lines = stride(from: 0, to: text.count, by: 64).map {
            String(decoding: text[$0..<min($0 + 64, text.count)], as: UTF8.self)
        }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----"]).joined(separator: "\n")
    }

    private func source() throws -> String {
        let signingInputs = signed.values.map { text in
            Array(text[..<(text.lastIndex(of: UInt8(ascii: ".")) ?? 0)])
        }
        let contents = Set(try signedMessages().values.map(\.content) + [attributesAsContent().content])
        return """
            // Written by scripts/app-store-samples. The keys are throw-away test keys, made for these samples only.

            /// The certificates and keys that signed the seeds of App Store data, and the digests of what they signed.
            enum AppStoreSamples {
                /// In PEM: the leaf, the intermediate and the root of every JWS.
                static let jws = [
            \(literals([jws.chain.leaf, jws.chain.intermediate, jws.chain.root].map { pem($0) }))
                ]

                /// In PEM: the certificate that signs JWS as Xcode does.
                static let xcode =
            \(literal(pem(xcode)))

                /// In PEM: the leaf, the intermediate and the root of receipts, and the certificate that signs them as Xcode does.
                static let receipts = [
            \(try literals((receipts.certificates + [ReceiptSigner.xcode.get().certificate]).map { pem($0) }))
                ]

                /// In PEM: the private keys of the leaf and the intermediate of JWS.
                static let keys = [
            \(literals([jws.leafKey, jws.intermediateKey].map { String(decoding: $0, as: UTF8.self) }))
                ]

                /// SHA-256 of the signing inputs of all genuine JWS.
                static let signingInputs: Set = [
            \(try digests(signingInputs))
                ]

                /// SHA-256 of the contents of all genuine receipts.
                static let contents: Set = [
            \(try digests(Array(contents)))
                ]
            }

            """
    }

    private func literals(_ texts: [String]) -> String { texts.map { literal($0) + "," }.joined(separator: "\n") }

    private func literal(_ text: String) -> String {
        let lines = text.split(separator: "\n").map { "        " + $0 }.joined(separator: "\n")
        return "        \"\"\"\n\(lines)\n        \"\"\""
    }

    private func digests(_ texts: [[UInt8]]) throws -> String {
        try texts.map { "        \"\(Hexadecimal.text(of: try SHA256.hash($0)))\"," }.sorted().joined(separator: "\n")
    }
}
