import Foundation
import OfferCore
import OfferEligibility
import TestSupport
import Testing

@testable import AppStoreTestSupport

/// Proofs over real connections, with roots of the operator's own.
@Suite("Proofs over HTTP", .serialized, .timeLimit(.minutes(5)))
struct ProofsTests {
    private let folder: TemporaryFolder
    private let environment: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        for name in ["roots", "empty"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: false)
        }
        try folder.write(TestChain.standard.get().root, to: "roots/chain.cer")
        try folder.write(ReceiptSigner.standard.get().chain.root, to: "roots/receipts.cer")
        environment = ["SUBSCRIPTION_OFFERS_APP_STORE_ROOTS": folder.path + "/roots"]
    }

    private static func body(of purchases: Int) throws -> String {
        let receipt = TestReceipt(
            purchases: (0..<purchases).map { TestReceipt.Purchase(transactionID: "\(2_000_000_000_000_000 + $0)") })
        let text = try ReceiptSigner.base64(receipt)
        let transaction = SamplePayload.transaction.with("environment", #""Sandbox""#)
        let jws = try TestChain.standard.get().jws(transaction)
        return """
            {"bundleID":"com.example.app","productID":"p","offerID":"o","applicationUsername":"u","verifiedProofs":true,\
            "proofs":{"signedTransactions":["\(jws)"],"appReceipt":"\(text)"}}
            """
    }

    private func post(_ body: String, _ flags: [String], to service: RunningService) throws -> String {
        try folder.write(body.utf8, to: "body.json")
        return try Command.run(
            "curl",
            flags + [
                "-sS", "--max-time", "60", "-H", "Content-Type: application/json", "-w",
                " %{http_version} %{http_code}",
                "--data-binary", "@\(folder.path)/body.json", "http://127.0.0.1:\(service.port)/v1/promotional-offers",
            ]
        ).standardOutput
    }

    @Test("a receipt of 187 purchases arrives in one piece or in chunks; a body over 1 MiB is refused")
    func sizes() throws {
        let service = try RunningService(environment: environment)
        let body = try Self.body(of: 187)
        #expect(body.utf8.count > 64 * 1024)
        for flags in [[], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect: 100-continue"]] {
            let answer = try post(body, flags, to: service)
            #expect(answer.hasSuffix(" 200"), "\(answer.prefix(300))")
            #expect(answer.contains(#""purchases":187"#) && answer.contains(#""signature":{"keyID""#))
        }
        let tooLarge = body + String(repeating: " ", count: 1024 * 1024)
        #expect(try post(tooLarge, [], to: service).hasSuffix(" 413"))
    }

    @Test("HTTP/2 carries bodies of the same size")
    func http2() throws {
        let pair = try CertificatePair()
        let service = try RunningService(arguments: pair.arguments, environment: environment)
        func post(_ body: String) throws -> String {
            try folder.write(body.utf8, to: "body.json")
            return try pair.curl(
                [
                    "--http2", "-H", "Content-Type: application/json", "-w", " %{http_version} %{http_code}",
                    "--data-binary", "@\(folder.path)/body.json",
                ], path: "/v1/promotional-offers", of: service)
        }
        let body = try Self.body(of: 187)
        let answer = try post(body)
        #expect(answer.hasSuffix(" 2 200") && answer.contains(#""purchases":187"#), "\(answer.prefix(300))")
        #expect(try post(body + String(repeating: " ", count: 1024 * 1024)).hasSuffix(" 2 413"))
    }

    @Test("roots of the operator's own are reported by the log, health and doctor, and replace Apple's")
    func ownRoots() throws {
        let service = try RunningService(environment: environment)
        let health = try Command.run("curl", ["-sS", "http://127.0.0.1:\(service.port)/health/ready"]).standardOutput
        #expect(health.contains(#""appStore":"degraded""#))
        #expect(health.contains("SUBSCRIPTION_OFFERS_APP_STORE_ROOTS is set, so data of 2 roots other than Apple's"))
        let doctor = try Command.runOfferSigner(
            ["doctor", "--development", "--keys-dir", folder.path, "--port", "0"], environment: environment)
        #expect(doctor.status == 0, "\(doctor.standardError)")
        #expect(doctor.standardOutput.contains("warning: SUBSCRIPTION_OFFERS_APP_STORE_ROOTS is set"))
        #expect(doctor.standardOutput.contains("ok: OCSP responders are not queried about revoked certificates"))
        let apple = try Command.runOfferSigner(["doctor", "--development", "--keys-dir", folder.path, "--port", "0"])
        #expect(apple.standardOutput.contains("ok: App Store data is verified with Apple's roots\n"))
        #expect(apple.standardOutput.contains("ok: OCSP responders would be queried"))
    }

    @Test("data of the operator's own chain is refused while Apple's roots are trusted")
    func strangers() throws {
        let service = try RunningService(environment: ["SUBSCRIPTION_OFFERS_OCSP": "off"])
        let answer = try post(try Self.body(of: 1), [], to: service)
        #expect(answer.hasSuffix(" 422"), "\(answer)")
        #expect(answer.contains(#""field":"proofs.signedTransactions[0]""#))
        #expect(answer.contains(#""reason":"root_not_trusted""#))
    }

    @Test("files that hold no certificate, and folders without files, are refused with a hint")
    func badRoots() throws {
        try folder.write("text".utf8, to: "text")
        try folder.write([0x30, 0x82, 0x00], to: "der")
        try folder.write("x".utf8, to: "empty/.hidden")
        for (path, problem) in [
            ("text", "contains no certificate"), ("der", "contains something that is not a certificate"),
            ("empty", "has no files"), ("missing", "does not exist"),
        ] {
            let outcome = try Command.runOfferSigner(
                ["doctor", "--development", "--keys-dir", folder.path, "--port", "0"],
                environment: ["SUBSCRIPTION_OFFERS_APP_STORE_ROOTS": "\(folder.path)/\(path)"])
            #expect(outcome.status == 1)
            #expect(outcome.standardError.contains(problem), "\(outcome.standardError)")
            #expect(outcome.standardError.contains("hint: "))
        }
    }
}
