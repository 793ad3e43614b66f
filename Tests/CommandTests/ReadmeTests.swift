import Foundation
import OfferCore
import OfferCrypto
import OfferServer
import TestSupport
import Testing

/// Every example of README.md is run, and its answer compared. `scripts/run` itself is tried by `scripts/test`.
@Suite("README", .serialized, .timeLimit(.minutes(5)))
struct ReadmeTests {
    private static let repository = MarkdownBlock.repository

    private static func blocks() throws -> [MarkdownBlock] { try MarkdownBlock.all(in: "README.md") }

    private static func block(_ language: String, containing text: String) throws -> String {
        try #require(blocks().first { $0.language == language && $0.text.contains(text) }).text
    }

    /// The answer with what differs at every call replaced by a letter.
    private static func shape(_ answer: String) -> String {
        answer.trimmingCharacters(in: .whitespacesAndNewlines)
            .replacing(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, with: "N")
            .replacing(/[0-9]{13}/, with: "T")
            .replacing(/"ME[A-Za-z0-9+\/]{90,94}={0,2}"/, with: "S")
            .replacing(/"requestID":"[0-9a-f]{16}"/, with: "R")
            .replacing(RunningService.keyID, with: "DEVELOPKEY")
    }

    @Test("no example is without a test")
    func everyBlockIsKnown() throws {
        // Two curls with answers, sign | verify with its answer, a real key, a configuration file with its start and a curl,
        // a start with TLS, three snippets, a refused signature with why, and the two commands.
        #expect(
            try Self.blocks().map(\.language) == [
                "sh", "sh", "json", "sh", "sh", "sh", "json", "yaml", "sh", "sh", "sh", "swift", "swift", "swift", "sh",
                "json", "sh", "json",
            ])
        for command in ["scripts/run", "scripts/test"] {
            #expect(try Self.blocks().contains { $0.text == command + "\n" })
            let path = Self.repository.appending(path: command).path
            #expect(FileManager.default.isExecutableFile(atPath: path))
        }
    }

    @Test("the variables that it names have the defaults that the page with all of them has")
    func variables() throws {
        /// By variable, up to the colon: what it means stands behind that.
        func defaults(_ page: String, column: Int) throws -> [String: Substring] {
            let rows = try MarkdownPage(page).rows.filter { $0[0].hasPrefix("`SUBSCRIPTION_OFFERS_") }
            return rows.reduce(into: [:]) { $0[$1[0]] = $1[column].prefix { $0 != ":" } }
        }
        let all = try defaults("docs/configuration.md", column: 3)
        // A row for two of them has two defaults.
        let some = try defaults("README.md", column: 2).filter { !$0.key.contains(",") }
        #expect(some.count > 8)
        for (name, text) in some { #expect(all[name] == text, "\(name)") }
    }

    @Test(
        "each curl gives the answer that stands below it",
        arguments: ["\"applicationUsername\": \"8d7f9a52c4e1\"\n}'", "_3m\"\n}'"])
    func curl(text: String) throws {
        let service = try RunningService()
        let blocks = try Self.blocks()
        let index = try #require(blocks.firstIndex { $0.text.hasPrefix("curl") && $0.text.contains(text) })
        let outcome = try Command.run(
            "bash", ["-c", blocks[index].text.replacing("127.0.0.1:8080", with: "127.0.0.1:\(service.port)")])
        #expect(outcome.status == 0)
        #expect(Self.shape(outcome.standardOutput) == Self.shape(blocks[index + 1].text))
    }

    /// A folder that looks like a checkout after a build: keys, the command, and `scripts/run` without its building.
    private static func checkout() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for name in ["keys", "scripts", ".build", ".build/debug", "Downloads"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: false)
        }
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/.build/debug/offer-signer", withDestinationPath: Command.offerSigner)
        try folder.write("#!/bin/sh\nexec .build/debug/offer-signer serve --port 0\n".utf8, to: "scripts/run")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path + "/scripts/run")
        return folder
    }

    @Test("sign and verify on the command line give what stands below them")
    func signAndVerify() throws {
        let folder = try Self.checkout()
        try folder.write(PrivateKeyPEM.generate(), to: "keys/SubscriptionKey_2X9R4HXF34.p8")
        let outcome = try Command.run(
            "bash", ["-o", "pipefail", "-c", Self.block("sh", containing: "offer-signer sign")], directory: folder.url)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(Self.shape(outcome.standardOutput) == Self.shape(try Self.block("json", containing: "\"verifies\"")))
    }

    @Test("a username that changes on its way is explained as stands below it")
    func refused() throws {
        let folder = try Self.checkout()
        try folder.write(PrivateKeyPEM.generate(), to: "keys/SubscriptionKey_2X9R4HXF34.p8")
        let outcome = try Command.run(
            "bash", ["-o", "pipefail", "-c", Self.block("sh", containing: "sed ")], directory: folder.url)
        #expect(outcome.status == 1, "\(outcome.standardError)")
        #expect(Self.shape(outcome.standardOutput) == Self.shape(try Self.block("json", containing: "letter_case")))
    }

    @Test("the three lines for a real key start the service with it")
    func realKey() throws {
        let folder = try Self.checkout()
        try folder.write(PrivateKeyPEM.generate(), to: "Downloads/SubscriptionKey_2X9R4HXF34.p8")
        let lines = try Self.block("sh", containing: "Downloads")
        // Start it, wait until it announces itself, and stop it as an operator would.
        let script = """
            { \(lines.replacing("SUBSCRIPTION", with: "exec env SUBSCRIPTION")) } >out 2>log &
            until grep -q http out; do kill -0 $! || { cat log >&2; exit 1; }; sleep 0.05; done
            kill $! && wait $! && cat out
            """
        let outcome = try Command.run(
            "bash", ["-e", "-c", script], environment: ["HOME": folder.path], directory: folder.url)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.hasPrefix("offer-signer signs with key 2X9R4HXF34 on http://127.0.0.1:"))
    }

    @Test("the configuration file is taken, its offer is signed for a token, and for no other")
    func configurationFile() throws {
        let folder = try Self.checkout()
        try folder.write(PrivateKeyPEM.generate(), to: "keys/SubscriptionKey_2X9R4HXF34.p8")
        let made = try Command.run(Command.offerSigner, ["tokens", "new"])
        let token = try JSONDecoder().decode([String: String].self, from: Data(made.standardOutput.utf8))
        let digest = try #require(token["tokenSHA256"])
        let file = try Self.block("yaml", containing: "apps:").replacing(
            "5f0c4b2a9d7e83164e1fa02c68bb35d9c07a4e9f1d2b6a8350e7c41f92ad6b38", with: digest)
        try folder.write(file.utf8, to: "offers.yaml")
        let start = try Self.block("sh", containing: "--config").replacing(
            "offer-signer serve", with: "exec .build/debug/offer-signer serve --port 0")
        let curl = try Self.block("sh", containing: "$TOKEN").replacing("127.0.0.1:8080", with: "$address")
            .replacing("http://$address/offer", with: "\"http://$address/offer\"")
        let script = """
            { \(start) } >out 2>log &
            until grep -q http out; do kill -0 $! || { cat log >&2; exit 1; }; sleep 0.05; done
            address=$(grep -o '127.0.0.1:[0-9]*' out)
            \(curl)
            TOKEN=another
            echo
            \(curl)
            kill $! && wait $!
            """
        let outcome = try Command.run(
            "bash", ["-e", "-c", script], environment: ["TOKEN": try #require(token["token"])], directory: folder.url)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let answers = outcome.standardOutput.split(separator: "\n")
        #expect(answers.count == 2)
        #expect(answers.first?.hasPrefix(#"{"keyID":"2X9R4HXF34""#) == true)
        #expect(answers.last?.contains(#""code":"credentials_refused""#) == true)
    }

    @Test("the start with TLS serves HTTP/2 with the certificate")
    func tls() throws {
        let folder = try Self.checkout()
        try folder.write(PrivateKeyPEM.generate(), to: "keys/SubscriptionKey_2X9R4HXF34.p8")
        try folder.write(Self.block("yaml", containing: "apps:").utf8, to: "offers.yaml")
        let start = try Self.block("sh", containing: "--tls-certificate")
            .replacing("offer-signer serve", with: "exec .build/debug/offer-signer serve")
            .replacing("0.0.0.0", with: "127.0.0.1").replacing("8443", with: "0")
        let script = """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout privkey.pem -out fullchain.pem \
                -days 90 -subj /CN=test -addext subjectAltName=IP:127.0.0.1 2>/dev/null
            chmod 600 privkey.pem
            { \(start) } >out 2>log &
            until grep -q https out; do kill -0 $! || { cat log >&2; exit 1; }; sleep 0.05; done
            curl -sS --cacert fullchain.pem -w ' %{http_version}' "$(grep -o 'https://127.0.0.1:[0-9]*' out)/health/ready"
            kill $! && wait $!
            """
        let outcome = try Command.run("bash", ["-e", "-c", script], directory: folder.url)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(
            outcome.standardOutput
                == #"{"status":"ready","checks":{"keys":"ok","selfTest":"ok","audit":"off","clock":"ok","catalogue":"ok"}} 2"#
        )
    }

    @Test("the StoreKit snippets hand StoreKit values that verify", arguments: [1, 2])
    func storeKit(version: Int) async throws {
        let service = try RunningService()
        let token = "D3B07384-D113-4EC6-A7B1-6F1C2F5E9B10"
        let customer = version == 1 ? ("applicationUsername", "user") : ("appAccountToken", token)
        let request = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","\#(customer.0)":"\#(customer.1)"}"#
        let answer = try await Connection.open(port: service.port) { try await $0.post("/offer", json: request) }

        let passed = try Self.passed(
            answer: #require(answer).body, snippet: version == 1 ? "SKPayment" : "let signature: Data",
            driver: Self.driver(version: version, customer: customer.1))
        try #require(passed.count == 6)
        // What the App Store would put together from what StoreKit was given.
        let payload = ["a", passed[0], "p", passed[1], passed[2], passed[3].lowercased(), passed[4]]
        let signature = [UInt8](try #require(Data(base64Encoded: passed[5])))
        #expect(try service.verifyingKey.verify(signature, of: Array(payload.joined(separator: "\u{2063}").utf8)))
    }

    @Test("the StoreKit snippet for JWS hands StoreKit a JWS that verifies")
    func storeKitJWS() async throws {
        let service = try RunningService(arguments: ["--issuer-id", Fixtures.issuerText])
        let request =
            #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":"","transactionID":"2000000123456789"}"#
        let answer = try await Connection.open(port: service.port) {
            try await $0.post("/v1/promotional-offers", json: request)
        }
        let passed = try Self.passed(
            answer: #require(answer).body, snippet: "compactJWS: String",
            driver: """
                import StoreKit
                let answer = try Data(contentsOf: URL(filePath: "answer.json"))
                let signed = try JSONDecoder().decode(SignedOffer.self, from: answer)
                let result = try await purchase(Product(), accountToken: UUID(), signed: signed)
                if case .success(let options) = result {
                    for case .offerJWS(let offerID, let jws) in options { print(offerID, jws, separator: "\\n") }
                }
                """)
        try #require(passed.count == 2)
        let jws = try CompactJWS(Array(passed[1].utf8))
        #expect(try service.verifyingKey.verify(jws.signature.der, of: jws.signingInput))
        guard case .promotionalOffer(let product, let offer, let transaction) = jws.content.request else {
            Issue.record("another kind")
            return
        }
        #expect((product.text.description, offer.text.description, passed[0]) == ("p", "o", "o"))
        #expect(transaction?.text.description == "2000000123456789")
    }

    /// What a snippet hands to StoreKit.
    /// - Parameters:
    ///   - snippet: a text that no other has.
    ///   - driver: calls it as an app would, and prints what it gave StoreKit, a line each.
    private static func passed(answer: [UInt8], snippet: String, driver: String) throws -> [String] {
        let folder = try TemporaryFolder()
        try folder.write(answer, to: "answer.json")
        try folder.write(standIn(), to: "StoreKit.swift")
        try folder.write(block("swift", containing: snippet).utf8, to: "snippet.swift")
        try folder.write(driver.utf8, to: "main.swift")
        for command in [
            "swiftc -emit-module -emit-library -static -module-name StoreKit StoreKit.swift",
            "swiftc -I . -L . main.swift snippet.swift -lStoreKit -o try",
        ] {
            let compiled = try Command.run("bash", ["-c", command], directory: folder.url)
            try #require(compiled.status == 0, "\(compiled.standardError)")
        }
        return try Command.run("./try", [], directory: folder.url).standardOutput.split(separator: "\n").map(
            String.init)
    }

    private static func standIn() throws -> Data {
        try Data(contentsOf: repository.appending(path: "Tests/CommandTests/StoreKitStandIn.swift.txt"))
    }

    /// Calls the snippet as an app would and prints what StoreKit was given: key ID, offer ID, customer, nonce,
    /// timestamp, signature in base64.
    private static func driver(version: Int, customer: String) -> String {
        let head = """
            import StoreKit
            let answer = try Data(contentsOf: URL(filePath: "answer.json"))
            let signed = try JSONDecoder().decode(OfferSignature.self, from: answer)

            """
        return switch version {
        case 1:
            head + """
                let made = payment(for: SKProduct(), offerID: "o", username: "\(customer)", signed: signed)
                if let payment = made as? SKMutablePayment, let discount = payment.paymentDiscount {
                    print(discount.keyIdentifier, discount.identifier, payment.applicationUsername ?? "", discount.nonce,
                        discount.timestamp, discount.signature, separator: "\\n")
                }
                """
        default:
            head + """
                let token = UUID(uuidString: "\(customer)") ?? UUID()
                let result = try await purchase(Product(), offerID: "o", accountToken: token, signed: signed)
                if case .success(let options) = result {
                    var passedToken = ""
                    for case .accountToken(let token) in options { passedToken = token.uuidString.lowercased() }
                    for case .offer(let offerID, let keyID, let nonce, let signature, let timestamp) in options {
                        print(keyID, offerID, passedToken, nonce, timestamp, signature.base64EncodedString(), separator: "\\n")
                    }
                }
                """
        }
    }
}
