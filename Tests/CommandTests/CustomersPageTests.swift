import Foundation
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// Runs the commands in docs/customers.md in their order, with a customer in the database.
@Suite("docs/customers.md", .serialized, .timeLimit(.minutes(5)))
struct CustomersPageTests {
    private let walk: PageWalk

    init() async throws { walk = try await PageWalk("docs/customers.md") }

    @Test("every code block on the page has a test")
    func everyBlockIsKnown() {
        #expect(
            walk.blocks.map(\.language) == [
                "sh", "sh", "json", "sh", "sh", "sh", "json", "sh", "sh", "text", "sh", "json", "sh", "json",
            ])
    }

    @Test("each command does what the page says, in the order of the page")
    func commands() async throws {
        try await addSubscription()
        let outcome = try walk.run(
            start: walk.block(0), walk.block(1), walk.block(4), walk.block(5), "echo",
            // The page's shell has the settings of the service.
            "export SUBSCRIPTION_OFFERS_CONFIG=offers.yaml SUBSCRIPTION_OFFERS_DATABASE=sqlite:subscribers.sqlite",
            walk.block(7), walk.block(10), "echo", walk.block(12), "echo", walk.block(5), "echo")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let lines = outcome.standardOutput.split(separator: "\n").map(String.init)
        try #require(lines.count == 5, "\(lines)")
        let times = /"(expiresAt|subscribedSince)":\d+/
        let documented = walk.block(6).trimmingCharacters(in: .newlines).replacing(times, with: "time")
        #expect(lines[0].replacing(times, with: "time") == documented)
        #expect(lines[1] == lines[0], "the command prints the answer of the route")
        #expect(lines[2] == walk.block(11).trimmingCharacters(in: .newlines))
        #expect(lines[3] == walk.block(13).trimmingCharacters(in: .newlines))
        #expect(lines[4] == #"{"customers":[]}"#)
    }

    @Test("the tables list every member of an answer")
    func members() throws {
        let source = try String(
            contentsOf: MarkdownBlock.repository.appending(
                path: "Sources/OfferService/Customers/Subscription+JSON.swift"),
            encoding: .utf8)
        let spans = Set(try MarkdownPage("docs/customers.md").codeSpans)
        let members = Set(source.matches(of: /(?:member|objects?)\("(\w+)"/).map { String($0.output.1) })
        #expect(members.count > 20)
        #expect(members.subtracting(spans).subtracting(["subscriptionGroupID"]) == [])
    }

    /// Adds a subscription that is active now.
    private func addSubscription() async throws {
        let store = try #require(StoreLocation("sqlite:\(walk.folder.path)/subscribers.sqlite")).open()
        let today = (Date().timeIntervalSince1970 * 1000 - Double(Sample.day(0).milliseconds)) / 86_400_000
        let id = "2000000100000001"
        let transaction = Sample.transaction(id, of: id, today - 1, today + 29) {
            $0.appTransactionID = Sample.id("7041234567890100000001")
        }
        try await store.merge([transaction, Sample.renewal(of: id, signed: today - 1)], in: Sample.sandbox)
        try store.close()
    }
}

@Suite("offer-signer customers show", .timeLimit(.minutes(5)))
struct CustomersShowTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("apps: [{bundleID: com.example.app, products: []}]".utf8, to: "offers.yaml")
    }

    private func run(_ arguments: String..., database: String? = "subscribers.sqlite") throws -> Command.Outcome {
        var environment = ["SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml"]
        environment["SUBSCRIPTION_OFFERS_DATABASE"] = database.map { "sqlite:\(folder.path)/\($0)" }
        return try Command.runOfferSigner(
            ["customers", "show"] + arguments, environment: environment, directory: folder.url)
    }

    private func addCustomer() async throws {
        let store = try #require(StoreLocation("sqlite:\(folder.path)/subscribers.sqlite")).open()
        for app in [Sample.production, Sample.sandbox] { try await store.merge(Sample.facts(1), in: app) }
        try store.close()
    }

    @Test(
        "a customer is printed for each environment, by any identifier",
        arguments: [
            ["--app-account-token", "\(Sample.token(1))"], ["--app-transaction-id", "7041234567890100000001"],
            ["--original-transaction-id", "2000000100000001"], ["--transaction-id", "2000000100000001"],
        ])
    func identifiers(option: [String]) async throws {
        try await addCustomer()
        let outcome = try run("--bundle-id", "com.example.app", option[0], option[1])
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let answer = try #require(
            JSONSerialization.jsonObject(with: Data(outcome.standardOutput.utf8)) as? [String: [[String: Any]]])
        #expect(answer["customers"]?.map { $0["environment"] as? String } == ["Production", "Sandbox"])
        let one = try run("--bundle-id", "com.example.app", option[0], option[1], "--environment", "Sandbox")
        #expect(one.standardOutput.contains(#""environment":"Sandbox""#))
        #expect(!one.standardOutput.contains("Production"))
    }

    @Test("an unknown customer is an empty list")
    func unknown() async throws {
        try await addCustomer()
        let outcome = try run("--bundle-id", "com.example.app", "--application-username", "u")
        #expect(outcome.status == 0 && outcome.standardOutput == "{\"customers\":[]}\n")
    }

    @Test("errors say what is wrong, and no database is created")
    func errors() throws {
        let customer = ["--bundle-id", "com.example.app", "--transaction-id", "1"]
        let missing = try run(customer[0], customer[1], customer[2], customer[3])
        #expect(missing.status == 1 && missing.standardError.contains("there is no database at"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/subscribers.sqlite"))
        let none = try run(customer[0], customer[1], customer[2], customer[3], database: nil)
        #expect(none.status == 1 && none.standardError.hasPrefix("error: no database is configured\nhint: "))
        let app = try run("--bundle-id", "another", "--transaction-id", "1")
        #expect(
            app.status == 1 && app.standardError.hasPrefix("error: the configuration file has no app another\nhint: "))
        for arguments in [[], ["--transaction-id", "1", "--app-transaction-id", "1"], ["--app-account-token", "1"]] {
            let wrong = try Command.runOfferSigner(
                ["customers", "show", "--bundle-id", "com.example.app"] + arguments, environment: [:])
            #expect(wrong.status == 64, "\(arguments)")
        }
    }
}

/// Runs the command of docs/customers.md in a folder with three customers: one who has lapsed, one in billing retry, and one
/// who has lapsed and has no account.
@Suite("offer-signer customers list", .serialized, .timeLimit(.minutes(5)))
struct CustomersListTests {
    private let walk: PageWalk

    init() async throws {
        walk = try await PageWalk("docs/customers.md")
        try walk.folder.write(
            """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                track: [score, old]
                products:
                  - productID: monthly
                    subscriptionGroupID: "21012345"
                    offers: [{offerID: winback_1m, rule: {subscription: {status: expired}}, limits: {perCustomer: 1}}]
                links:
                  teamID: ABCDE12345
                  name: Example
                  campaigns:
                    - {name: spring, title: A month, text: Free, offer: {productID: monthly, offerID: winback_1m}}
            """.utf8, to: "offers.yaml")
        let store = try #require(StoreLocation("sqlite:\(walk.folder.path)/subscribers.sqlite")).open()
        let today = (Date().timeIntervalSince1970 * 1000 - Double(Sample.day(0).milliseconds)) / 86_400_000
        for (number, account) in [(1, 1), (2, 2), (3, nil)] as [(Int, UInt64?)] {
            let id = "200000010000000\(number)"
            let end = Sample.renewal(of: id, signed: today - 0.9) { renewal in
                renewal = Renewal(productID: renewal.productID, autoRenewStatus: number == 2 ? .on : .off)
                renewal.appAccountToken = account.map(Sample.token)
                renewal.expirationIntent = number == 2 ? .billingError : .cancelled
                renewal.isInBillingRetryPeriod = number == 2
            }
            let purchase = Sample.transaction(id, of: id, today - 31, today - 1) {
                $0.appAccountToken = account.map(Sample.token)
            }
            let status = Sample.status(number == 2 ? 3 : 2, of: id, signed: today - 0.9)
            try await store.merge([purchase, end, status], in: Sample.production)
        }
        try store.close()
    }

    private func shell(_ commands: String...) throws -> Command.Outcome {
        try walk.shell(
            ([
                "export SUBSCRIPTION_OFFERS_CONFIG=offers.yaml SUBSCRIPTION_OFFERS_DATABASE=sqlite:subscribers.sqlite",
                "export SUBSCRIPTION_OFFERS_AUDIT_LOG=audit.jsonl SUBSCRIPTION_OFFERS_AUDIT_KEY=0123456789abcdef",
            ] + commands).joined(separator: "\n"))
    }

    @Test("the page's commands list those of an offer and of a state, in files that links make takes")
    func files() throws {
        let outcome = try shell(
            "{ \(walk.block(8)) } 2>&1 | grep -v OfferAudit", "cat list.csv retry.csv", "stat -c %a list.csv",
            "grep -c console_worklist audit.jsonl",
            "export SUBSCRIPTION_OFFERS_LINKS_KEY=0123456789abcdef0123456789abcdef SUBSCRIPTION_OFFERS_LINKS_URL=https://go.example.com",
            "offer-signer links make --campaign spring --customers list.csv --output mailing.csv 2>&1 | grep ok:",
            "offer-signer customers list --offer winback_1m --name originalTransactionID --format csv | wc -l",
            "offer-signer customers list --offer winback_1m --format json 2>/dev/null | grep -c '\"status\":\"expired\"'"
        )
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let lines = outcome.standardOutput.split(whereSeparator: \.isNewline).map(String.init)
        let head = try #require(walk.block(9).split(whereSeparator: \.isNewline).first)
        let end = #/,20[0-9-]+T[0-9:.]+Z,/#
        #expect(
            lines.map { $0.replacing(end, with: ",end,") } == [
                "ok: 1 customers", "warning: 1 more customers have no appAccountToken",
                "hint: --name originalTransactionID names every customer", "ok: 1 customers", String(head),
                "\(Sample.token(1)),monthly,expired,end,,false", String(head),
                "\(Sample.token(2)),monthly,billing_retry,end,,false", "600", "2",
                "ok: 1 links, 0 customers left out of the mailing", "3", "2",
            ])
    }

    @Test("set-facts reads a file with facts of each kind, and a wrong line changes nothing")
    func facts() throws {
        let outcome = try shell(
            #"printf 'originalTransactionID,risk,score,vip,old\r\n2000000100000001,high,0.5,true,\r\n2000000100000002,\"a,b\",007,false,x\r\n' > scores.csv"#,
            "{ \(walk.block(3)) } 2>&1 | grep -v OfferAudit",
            "show() { offer-signer customers show --bundle-id com.example.app --original-transaction-id $1; }",
            #"show 2000000100000001 | grep -o '"facts":{[^}]*}'"#,
            #"show 2000000100000002 | grep -o '"facts":{[^}]*}'"#,
            #"grep -o '"kind":"console_facts"[^}]*"about":"2 customers"' audit.jsonl | wc -l"#,
            #"printf 'originalTransactionID,risk\n2000000100000001,low\n2000000100000002\n' > scores.csv"#,
            "\(walk.block(3).trimmingCharacters(in: .newlines)) 2>&1 || echo status $?",
            #"show 2000000100000001 | grep -o '"risk":"[a-z]*"'"#,
            "offer-signer database export all.jsonl 2>/dev/null",
            #"grep trackedFact all.jsonl | grep -o '"name":.*"\(number\|text\)":[^,]*'"#)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(
            outcome.standardOutput.split(whereSeparator: \.isNewline).map(String.init) == [
                "ok: facts of 2 customers", #""facts":{"risk":"high","score":0.5,"vip":true}"#,
                #""facts":{"old":"x","risk":"a,b","score":"007","vip":false}"#, "1",
                "error: line 3 of scores.csv: the line has 1 columns, and the head has 2",
                "hint: correct the line; nothing was changed", "status 1", #""risk":"high""#,
                #""name":"score","number":"0.5""#, #""name":"old","text":"x""#, #""name":"score","text":"007""#,
            ])
    }

    @Test("--since names those who may have the offer since then, as events found, and needs events")
    func since() async throws {
        let command = "offer-signer customers list --offer winback_1m --name originalTransactionID --format csv --since"
        let without = try shell("\(command) 2020-01-01")
        #expect(without.status == 1 && without.standardError.contains("the app has no events"))
        let store = try #require(StoreLocation("sqlite:\(walk.folder.path)/subscribers.sqlite")).open()
        try await store.beginReviews(of: Sample.production, by: "rules", at: Sample.day(0))
        while try await store.enrolCustomers(of: Sample.production, limit: 10) {}
        for (due, time) in zip(
            try await store.dueReviews(of: Sample.production, by: Sample.day(1), limit: 9), [1, 0, 9])
        {
            let since = Sample.day(Double(time)).milliseconds
            let states = try ReviewStates(
                json:
                    #"{"byAccount":{"":{"eligible":[{"productID":"monthly","offerID":"winback_1m","since":\#(since)}],"sent":{}}}}"#
            )
            let review = SettledReview(due, of: nil, states: states, next: Sample.day(99), at: Sample.day(1))
            #expect(try await store.settle(review))
        }
        try store.close()
        // The second is in billing retry, so the offer is not for it.
        let outcome = try shell(
            "sed -i 's|    track:|    events: {to: [https://backend.example/events]}\\n&|' offers.yaml",
            "list() { \(command) $1 2>/dev/null | tail -n +2 | cut -d, -f1 | sort | tr '\\n' ' '; echo; }",
            "list \(String(decoding: Sample.day(0).iso8601, as: UTF8.self))",
            "list \(String(decoding: Sample.day(5).iso8601, as: UTF8.self))",
            "list \(String(decoding: Sample.day(10).iso8601, as: UTF8.self))")
        #expect(
            outcome.standardOutput == "2000000100000001 2000000100000003 \n2000000100000003 \n\n",
            "\(outcome.standardOutput) \(outcome.standardError)")
    }

    @Test("a wrong command says what to do, and makes no file")
    func faults() throws {
        for (arguments, status, text) in [
            ("--output a.csv", 64, "Name the list by --offer or by --state"),
            ("--offer x --state billing_retry", 64, "Name the list by --offer or by --state"),
            ("--state price_increase --held-out include", 64, "Nobody is held out"),
            ("--offer nothing", 1, "the configuration file has no offer nothing"),
            ("--offer winback_1m --name transactionID", 64, "It must be appAccountToken"),
            ("--state billing_retry --environment Xcode", 1, "the app has no data in Xcode"),
            ("--state billing_retry --output offers.yaml", 1, "offers.yaml exists already"),
        ] {
            let outcome = try shell("offer-signer customers list \(arguments)")
            #expect(outcome.status == Int32(status) && outcome.standardError.contains(text), "\(outcome.standardError)")
            #expect(!FileManager.default.fileExists(atPath: walk.folder.path + "/a.csv"))
        }
    }
}
