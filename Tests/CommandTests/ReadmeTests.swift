import Foundation
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferService
import TestSupport
import Testing

/// Runs every example in README.md and three pages of docs/, and compares each output with the page. `scripts/test`
/// covers the build by `scripts/run`.
@Suite("README", .serialized, .timeLimit(.minutes(5)))
struct ReadmeTests {
    /// The pages whose examples run here.
    private enum Page: String, CaseIterable {
        case readme = "README.md"
        case api = "docs/api.md"
        case deploy = "docs/deploy.md"
        case explanations = "docs/explanations.md"

        func blocks() throws -> [MarkdownBlock] { try MarkdownBlock.all(in: rawValue) }

        func block(_ language: String, containing text: String) throws -> String {
            let block = try blocks().first { $0.language == language && $0.text.contains(text) }
            return try #require(block, "\(rawValue): \(text)").text
        }

        /// The rows of the table whose first column has this heading.
        func rows(under heading: String) throws -> [[String]] {
            let rows = try MarkdownPage(rawValue).rows
            let begin = try #require(rows.firstIndex { $0.first == heading }, "\(rawValue): \(heading)")
            let columns = rows[begin].count
            let below = rows[(begin + 2)...]
            // The row before dashes is the heading of the next table.
            let end = below.firstIndex { $0.first == "---" }.map { $0 - 1 } ?? below.endIndex
            return Array(below[..<end].prefix { $0.count == columns && $0.first?.isEmpty == false })
        }
    }

    private static let repository = MarkdownBlock.repository

    /// The output, with every part that differs between calls replaced by a letter.
    private static func shape(_ answer: String) -> String {
        answer.trimmingCharacters(in: .whitespacesAndNewlines)
            .replacing(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, with: "N")
            .replacing(/[0-9]{13}/, with: "T")
            .replacing(/"ME[A-Za-z0-9+\/]{90,94}={0,2}"/, with: "S")
            .replacing(/"eyJ[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){2}"/, with: "J")
            .replacing(/"requestID":"[0-9a-f]{16}"/, with: "R")
            .replacing(RunningService.keyID, with: "DEVELOPKEY")
    }

    @Test("every code block on these pages has a test")
    func everyBlockIsKnown() throws {
        let known: [Page: [String]] = [
            // A picture; scripts/run, a curl and its answer; a rule, a decision and its answer; scripts/test; a real key; a
            // configuration file, the command that serves it and a curl; a refused signature and its explanation.
            .readme: [
                "text", "sh", "sh", "json", "yaml", "sh", "json", "sh", "sh", "yaml", "sh", "sh", "sh", "json",
            ],
            // A curl and its answer, the hash of a username, a request with a key, events, three StoreKit calls, a refused
            // request and its answer.
            .api: ["sh", "json", "sh", "sh", "sh", "swift", "swift", "swift", "sh", "json"],
            // The whole configuration file, the command that serves it, a command with TLS, a health check and its
            // answer, four steps of an upgrade (UpgradePageTests).
            .deploy: ["yaml", "sh", "sh", "sh", "json", "sh", "sh", "sh", "sh"],
            // sign | verify and its output, a curl pipeline and its answer.
            .explanations: ["sh", "json", "sh", "json"],
        ]
        for page in Page.allCases { #expect(try page.blocks().map(\.language) == known[page], "\(page.rawValue)") }
        for command in ["scripts/run", "scripts/test"] {
            #expect(try Page.readme.blocks().contains { $0.text == command + "\n" })
            let path = Self.repository.appending(path: command).path
            #expect(FileManager.default.isExecutableFile(atPath: path))
        }
    }

    @Test("README.md has at most 150 lines")
    func length() throws {
        #expect(try MarkdownPage("README.md").text.count { $0.isNewline } <= 150)
    }

    @Test("docs/deploy.md states the same defaults as docs/configuration.md")
    func variables() throws {
        /// Default values by variable, minus any explanation after a colon.
        func defaults(_ page: String, column: Int) throws -> [String: Substring] {
            let rows = try MarkdownPage(page).rows.filter { $0[0].hasPrefix("`SUBSCRIPTION_OFFERS_") }
            return rows.reduce(into: [:]) { $0[$1[0]] = $1[column].prefix { $0 != ":" } }
        }
        let all = try defaults("docs/configuration.md", column: 3)
        // Skips rows for two settings, which have two defaults.
        let some = try defaults("docs/deploy.md", column: 2).filter { !$0.key.contains(",") }
        #expect(some.count > 8)
        for (name, text) in some { #expect(all[name] == text, "\(name)") }
    }

    /// A member of `openapi.json`, which another test compares with the code.
    private static func contract(_ keys: String...) throws -> [String: Any] {
        let file = repository.appending(path: "Sources/OfferService/OpenAPI/openapi.json")
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        return try #require(keys.reduce(document) { $0?[$1] as? [String: Any] }, "\(keys)")
    }

    @Test("docs/api.md hashes a username as the service does")
    func usernameHash() throws {
        let outcome = try Command.run("bash", ["-c", Page.api.block("sh", containing: "sha256sum")])
        let digest = try SHA256.hash(Array("jo@example.com".utf8))
        #expect(outcome.standardOutput == Hexadecimal.text(of: digest) + "\n")
    }

    @Test("docs/api.md lists every problem code under its status, and no other codes")
    func codes() throws {
        let documented = try Page.api.rows(under: "status").flatMap { row in
            row[1].matches(of: /`(\w+)`/).map { "\(row[0]) \($0.output.1)" }
        }
        let names = try Self.contract("components", "responses").keys
        let expected = try names.flatMap { name in
            let body = try Self.contract(
                "components", "responses", name, "content", "application/problem+json", "schema")
            let members = (body["allOf"] as? [[String: Any]] ?? []).compactMap { $0["properties"] as? [String: Any] }
            func value(_ member: String, _ key: String) -> Any? {
                members.compactMap { ($0[member] as? [String: Any])?[key] }.first
            }
            let status = value("status", "const") as? Int ?? 0
            return (value("code", "enum") as? [String] ?? []).map { "\(status) \($0)" }
        }
        #expect(documented.count == Problem.Code.allCases.count)
        #expect(documented.sorted() == expected.sorted())
    }

    @Test("docs/explanations.md lists every cause, in the order of openapi.json")
    func causes() throws {
        let cause = try Self.contract("components", "schemas", "Explanation", "properties", "cause")
        let expected = (cause["enum"] as? [Any])?.compactMap { $0 as? String }
        let documented = try Page.explanations.rows(under: "what is wrong").flatMap { row in
            row[1].matches(of: /`(\w+)`/).map { String($0.output.1) }
        }
        #expect(documented == expected)
    }

    @Test("docs/deploy.md describes every check in the readiness response")
    func checks() throws {
        let answer = try Page.deploy.block("json", containing: "checks")
        let json = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
        let checks = try #require(json?["checks"] as? [String: String])
        let documented = try Page.deploy.rows(under: "check").map { $0[0].replacing("`", with: "") }
        #expect(documented.sorted() == checks.keys.sorted())
    }

    @Test(
        "each curl command prints the output shown below it",
        arguments: [
            ("README.md", "\"applicationUsername\": \"8d7f9a52c4e1\"\n}'\n"), ("docs/api.md", "\"transactionID\""),
            ("docs/api.md", "_3m\"\n}'"), ("docs/deploy.md", "/health/ready"),
            ("docs/explanations.md", "/v1/explanations"),
        ])
    func curl(page: String, text: String) throws {
        let service = try RunningService(
            arguments: page == Page.api.rawValue ? ["--issuer-id", Fixtures.issuerText] : [])
        let blocks = try MarkdownBlock.all(in: page)
        let index = try #require(blocks.firstIndex { $0.text.hasPrefix("curl") && $0.text.contains(text) })
        let outcome = try Command.run(
            "bash",
            [
                "-o", "pipefail", "-c",
                blocks[index].text.replacing("127.0.0.1:8080", with: "127.0.0.1:\(service.port)"),
            ])
        #expect(outcome.status == 0)
        #expect(Self.shape(outcome.standardOutput) == Self.shape(blocks[index + 1].text))
    }

    @Test("the request with a key in docs/api.md gets one signature, however often it is sent")
    func repeatedRequest() throws {
        let service = try RunningService()
        let curl = try Page.api.block("sh", containing: "Idempotency-Key")
            .replacing("127.0.0.1:8080", with: "127.0.0.1:\(service.port)")
        let answers = try (1...3).map { _ in try Command.run("bash", ["-c", curl]) }
        #expect(answers[0].standardOutput.contains(#""signature":"ME"#))
        #expect(Set(answers.map(\.standardOutput)).count == 1)
        let another = curl.replacing("6f1b7a52", with: "6f1b7a53")
        #expect(try Command.run("bash", ["-c", another]).standardOutput != answers[0].standardOutput)
    }

    /// A service with the configuration file and the database of the README's section on rules.
    private static func serviceWithRule(in folder: TemporaryFolder) throws -> RunningService {
        try folder.write(Page.readme.block("yaml", containing: "win_back").utf8, to: "rules.yaml")
        return try RunningService(
            arguments: [
                "--config", folder.path + "/rules.yaml", "--database", "sqlite:\(folder.path)/subscribers.sqlite",
            ])
    }

    @Test("the events in docs/api.md are accepted")
    func events() throws {
        let folder = try TemporaryFolder()
        let service = try Self.serviceWithRule(in: folder)
        let curl = try Page.api.block("sh", containing: "/v1/offers/events")
            .replacing("127.0.0.1:8080", with: "127.0.0.1:\(service.port)")
            .replacing("curl -sS", with: "curl -sS -w '%{http_code}'")
        #expect(try Command.run("bash", ["-c", curl]).standardOutput == "204")
        // The same request with a word that is no event is refused, so the answer above means something.
        let wrong = try Command.run("bash", ["-c", curl.replacing(#""shown""#, with: #""seen""#)])
        #expect(wrong.standardOutput.hasSuffix("400"))
    }

    @Test("the rule in README.md decides as it says")
    func decision() throws {
        let folder = try TemporaryFolder()
        let service = try Self.serviceWithRule(in: folder)
        let curl = try Page.readme.block("sh", containing: "/v1/decisions")
            .replacing("127.0.0.1:8080", with: "127.0.0.1:\(service.port)")
        let outcome = try Command.run("bash", ["-c", curl])
        #expect(outcome.status == 0)
        let answer = try Page.readme.block("json", containing: "winback_1m")
        #expect(Self.shape(outcome.standardOutput) == Self.shape(answer))
    }

    /// Creates a folder that looks like a checkout: keys, the command, and the real `scripts/run` with stand-ins for
    /// `swift` and the scripts that install and build.
    private static func checkout() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for name in ["keys", "scripts", "bin", ".build", ".build/debug", "Downloads"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: false)
        }
        for (name, target) in [
            (".build/debug/offer-signer", Command.offerSigner), ("bin/offer-signer", Command.offerSigner),
            ("scripts/run", repository.appending(path: "scripts/run").path),
        ] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/" + name, withDestinationPath: target)
        }
        let programs = [
            "scripts/setup": "#!/bin/sh\n", "scripts/build": "#!/bin/sh\n",
            "bin/swift": "#!/bin/sh\n[ \"$2\" != --show-bin-path ] || echo .build/debug\n",
        ]
        for (name, text) in programs {
            try folder.write(text.utf8, to: name)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path + "/" + name)
        }
        return folder
    }

    /// Runs a script in a checkout, with `offer-signer` and the stand-in for `swift` in its `PATH`, on any free port.
    private static func bash(
        _ script: String, in folder: TemporaryFolder, environment: [String: String] = [:]
    ) throws -> Command.Outcome {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let own = ["HOME": folder.path, "PATH": "\(folder.path)/bin:\(path)", "SUBSCRIPTION_OFFERS_PORT": "0"]
        return try Command.run(
            "bash", ["-e", "-o", "pipefail", "-c", script], environment: own.merging(environment) { $1 },
            directory: folder.url)
    }

    @Test("the sign and verify commands print the output shown below them")
    func signAndVerify() throws {
        let folder = try Self.checkout()
        try folder.write(PrivateKeyPEM.generate(), to: "keys/SubscriptionKey_2X9R4HXF34.p8")
        let outcome = try Self.bash(Page.explanations.block("sh", containing: "offer-signer sign"), in: folder)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let expected = try Page.explanations.block("json", containing: "\"verifies\":true")
        #expect(Self.shape(outcome.standardOutput) == Self.shape(expected))
    }

    @Test("the example with a changed username prints the explanation shown below it")
    func refused() throws {
        let folder = try Self.checkout()
        let outcome = try Self.bash(Page.readme.block("sh", containing: "sed "), in: folder)
        #expect(outcome.status == 1, "\(outcome.standardError)")
        #expect(
            Self.shape(outcome.standardOutput) == Self.shape(try Page.readme.block("json", containing: "letter_case")))
    }

    @Test("the three lines for a real key start the service with that key")
    func realKey() throws {
        let folder = try Self.checkout()
        try folder.write(PrivateKeyPEM.generate(), to: "Downloads/SubscriptionKey_2X9R4HXF34.p8")
        let lines = try Page.readme.block("sh", containing: "Downloads")
        // Starts the service, waits for its first output, and stops it as an operator would.
        let script = """
            { \(lines.replacing("SUBSCRIPTION", with: "exec env SUBSCRIPTION")) } >out 2>log &
            until grep -q http out; do kill -0 $! || { cat log >&2; exit 1; }; sleep 0.05; done
            kill $! && wait $! && cat out
            """
        let outcome = try Self.bash(script, in: folder)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.hasPrefix("offer-signer signs with key 2X9R4HXF34 on http://127.0.0.1:"))
    }

    @Test(
        "each configuration file is accepted, and its offer is signed only with its token",
        arguments: [("README.md", "DEVELOPKEY"), ("docs/deploy.md", "2X9R4HXF34")])
    func configurationFile(name: String, keyID: String) throws {
        let page = try #require(Page(rawValue: name))
        let folder = try Self.checkout()
        try folder.write(PrivateKeyPEM.generate(), to: "keys/SubscriptionKey_2X9R4HXF34.p8")
        let made = try Command.runOfferSigner(["tokens", "new"])
        let token = try JSONDecoder().decode([String: String].self, from: Data(made.standardOutput.utf8))
        let digest = try #require(token["tokenSHA256"])
        let file = try page.block("yaml", containing: "callers:").replacing(
            "5f0c4b2a9d7e83164e1fa02c68bb35d9c07a4e9f1d2b6a8350e7c41f92ad6b38", with: digest)
        try folder.write(file.utf8, to: "offers.yaml")
        let curl = try Page.readme.block("sh", containing: "$TOKEN").replacing("127.0.0.1:8080", with: "$address")
            .replacing("http://$address/offer", with: "\"http://$address/offer\"")
        let script = """
            { exec \(try page.block("sh", containing: "--config offers.yaml\n")) } >out 2>log &
            until grep -q http out; do kill -0 $! || { cat log >&2; exit 1; }; sleep 0.05; done
            address=$(grep -o '127.0.0.1:[0-9]*' out | head -n 1)
            \(curl)
            TOKEN=another
            echo
            \(curl)
            kill $! && wait $!
            """
        let outcome = try Self.bash(script, in: folder, environment: ["TOKEN": try #require(token["token"])])
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let answers = outcome.standardOutput.split(separator: "\n")
        #expect(answers.count == 2)
        #expect(answers.first?.hasPrefix(#"{"keyID":"\#(keyID)""#) == true)
        #expect(answers.last?.contains(#""code":"credentials_refused""#) == true)
    }

    @Test("the start command with TLS serves HTTP/2 with the certificate")
    func tls() throws {
        let folder = try Self.checkout()
        try folder.write(PrivateKeyPEM.generate(), to: "keys/SubscriptionKey_2X9R4HXF34.p8")
        try folder.write(Page.deploy.block("yaml", containing: "apps:").utf8, to: "offers.yaml")
        let start = try Page.deploy.block("sh", containing: "--tls-certificate")
            .replacing("0.0.0.0", with: "127.0.0.1").replacing("8443", with: "0")
        let script = """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout privkey.pem -out fullchain.pem \
                -days 90 -subj /CN=test -addext subjectAltName=IP:127.0.0.1 2>/dev/null
            chmod 600 privkey.pem
            { exec \(start) } >out 2>log &
            until grep -q https out; do kill -0 $! || { cat log >&2; exit 1; }; sleep 0.05; done
            curl -sS --cacert fullchain.pem -w ' %{http_version}' "$(grep -o 'https://127.0.0.1:[0-9]*' out)/health/ready"
            kill $! && wait $!
            """
        let outcome = try Self.bash(script, in: folder)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(
            outcome.standardOutput
                == #"{"status":"ready","checks":{"keys":"ok","selfTest":"ok","audit":"off","clock":"ok","catalogue":"ok","appStore":"ok","appStoreAPI":"off","appStoreConnect":"off","store":"off","notifications":"off","ledger":"off","retention":"off"}} 2"#
        )
    }

    @Test("the signature that the StoreKit snippets pass to StoreKit verifies", arguments: [1, 2])
    func storeKit(version: Int) async throws {
        let service = try RunningService()
        let token = "D3B07384-D113-4EC6-A7B1-6F1C2F5E9B10"
        let customer = version == 1 ? ("applicationUsername", "user") : ("appAccountToken", token)
        let request = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","\#(customer.0)":"\#(customer.1)"}"#
        let passed = try Self.passed(
            answer: try await service.post("/offer", request).body,
            snippet: version == 1 ? "SKPayment" : "let signature: Data",
            driver: Self.driver(version: version, customer: customer.1))
        try #require(passed.count == 6)
        // The payload that the App Store would assemble from these values.
        let payload = ["a", passed[0], "p", passed[1], passed[2], passed[3].lowercased(), passed[4]]
        let signature = [UInt8](try #require(Data(base64Encoded: passed[5])))
        #expect(try service.verifyingKey.verify(signature, of: Array(payload.joined(separator: "\u{2063}").utf8)))
    }

    @Test("the JWS that the StoreKit snippet passes to StoreKit verifies")
    func storeKitJWS() async throws {
        let service = try RunningService(arguments: ["--issuer-id", Fixtures.issuerText])
        let request =
            #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":"","transactionID":"2000000123456789"}"#
        let passed = try Self.passed(
            answer: try await service.post("/v1/promotional-offers", request).body, snippet: "compactJWS: String",
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
            Issue.record("the JWS has the wrong kind")
            return
        }
        #expect((product.text.description, offer.text.description, passed[0]) == ("p", "o", "o"))
        #expect(transaction?.text.description == "2000000123456789")
    }

    /// Compiles a snippet from docs/api.md with the StoreKit stand-in and returns the values it passes to StoreKit.
    /// - Parameters:
    ///   - snippet: a string that only this snippet contains.
    ///   - driver: a program that calls the snippet as an app would and prints the values, one per line.
    private static func passed(answer: [UInt8], snippet: String, driver: String) throws -> [String] {
        let folder = try TemporaryFolder()
        try folder.write(answer, to: "answer.json")
        try folder.write(standIn(), to: "StoreKit.swift")
        try folder.write(Page.api.block("swift", containing: snippet).utf8, to: "snippet.swift")
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

    /// A program that calls the snippet as an app would and prints what StoreKit received: key ID, offer ID, customer,
    /// nonce, timestamp, signature in base64.
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
