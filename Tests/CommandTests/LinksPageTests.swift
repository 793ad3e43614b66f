import Foundation
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// Follows docs/links.md with a customer in the database.
@Suite("docs/links.md", .serialized, .timeLimit(.minutes(5)))
struct LinksPageTests {
    private let walk: PageWalk
    private let linksPort: Int

    init() async throws {
        walk = try await PageWalk("docs/links.md")
        linksPort = try await FreePort.find()
    }

    /// The commands that write the page's configuration and list, and set the page's settings.
    private var settings: String {
        """
        cat > offers.yaml <<END
        \(walk.block(0).replacing("holdOut: 0.1", with: "holdOut: 0"))
        END
        cat > list.csv <<END
        \(walk.block(3).trimmingCharacters(in: .newlines))
        END
        export SUBSCRIPTION_OFFERS_CONFIG=offers.yaml SUBSCRIPTION_OFFERS_DATABASE=sqlite:subscribers.sqlite
        export SUBSCRIPTION_OFFERS_AUDIT_LOG=audit.jsonl SUBSCRIPTION_OFFERS_KEY_ID=2X9R4HXF34
        \(walk.block(1))
        """
    }

    private var serve: String {
        walk.block(2).trimmingCharacters(in: .newlines).replacing("0.0.0.0:8444", with: "127.0.0.1:\(linksPort)")
    }

    @Test("every code block on the page has a test")
    func everyBlockIsKnown() {
        #expect(walk.blocks.map(\.language) == ["yaml", "sh", "sh", "text", "sh", "json", "sh", "text", "sh"])
    }

    @Test("a mailing: links are made, one is visited and claimed, and the counts and the report show it")
    func mailing() async throws {
        try await addSubscription("d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10")
        let pages = "curl -sS http://127.0.0.1:\(linksPort)"
        let decide = "curl -sS http://127.0.0.1:\(walk.port)/v1/decisions -H 'Content-Type: application/json' -d"
        let outcome = try walk.run(
            start: "\(settings)\n\(serve)\n",
            "\(settings.replacing("$(openssl rand -hex 32)", with: "unused-but-long-enough"))",
            // The commands and the service share the key.
            "export SUBSCRIPTION_OFFERS_LINKS_KEY=$(tr '\\0' '\\n' </proc/$service/environ | sed -n 's/^SUBSCRIPTION_OFFERS_LINKS_KEY=//p')",
            "\(walk.block(4).trimmingCharacters(in: .newlines)) 2>&1 | grep ok:", "stat -c %a mailing.csv",
            "\(pages)/.well-known/apple-app-site-association; echo",
            "link=$(sed -n 's/.*,Ann,//p' mailing.csv | tr -d '\\r')",
            #"path=${link#https://go.example.com}"#,
            "\(pages)$path -o page.html -w '%{http_code} %{content_type}\\n'", "grep -c 'A month on us' page.html",
            #"\#(decide) '{"bundleID":"com.example.app","appAccountToken":"d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10","sign":false,"link":"'"$link"'"}'; echo"#,
            #"\#(decide) '{"bundleID":"com.example.app","appAccountToken":"6b3a1c7e-3f2b-4f0d-9b1a-0c5d6e7f8a9b","sign":false,"link":"'"$link"'"}'; echo"#,
            "\(decide) '\(walk.block(5).replacing("\n", with: ""))'; echo",
            walk.block(4).trimmingCharacters(in: .newlines).replacing("mailing.csv", with: "again.csv")
                + " 2>/dev/null", "cmp mailing.csv again.csv && echo same",
            walk.block(6), walk.block(8).trimmingCharacters(in: .newlines) + " | grep -c link:spring",
            "grep -c console_mailing audit.jsonl")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let lines = outcome.standardOutput.split(separator: "\n").map(String.init)
        try #require(lines.count == 12, "\(lines)")
        #expect(lines[0] == "ok: 2 links, 0 customers left out of the mailing")
        #expect(lines[1] == "600", "only the account that made it can read it")
        #expect(lines[2].contains(#""appIDs":["ABCDE12345.com.example.app"]"#))
        #expect(lines[3] == "200 text/html; charset=utf-8" && lines[4] == "2")
        #expect(lines[5].contains(#""link":{"campaign":"spring","counts":true}"#), "\(lines[5])")
        #expect(lines[5].contains(#""offers":[{"productID":"com.example.app.pro.monthly","offerID":"winback_1m""#))
        #expect(
            lines[6].contains(#""code":"another_customers_link""#) && lines[6].contains(#""offers":[]"#), "\(lines[6])")
        #expect(lines[7].contains(#""link":{"campaign":"spring","counts":true}"#) && lines[7].contains("summer_3m"))
        #expect(lines[8] == "same")
        let example = walk.block(7).trimmingCharacters(in: .newlines)
        let shape = #/\d+/#
        #expect(lines[9].replacing(shape, with: "0") == example.replacing(shape, with: "0"), "\(lines[9])")
        #expect(
            lines[9].contains("2 personal links made, 0 customers left out")
                && lines[9].contains(" 1 opened in the app"))
        #expect(Int(lines[10]).map { $0 > 0 } == true, "the report has the sample: \(lines[10])")
        #expect(lines.last == "2", "two lines of the audit trail")
    }

    @Test(
        "a list with a fault makes nothing, and says what to do",
        arguments: [
            ("", "no head"), ("mail\na@example.com\n", "no column of list.csv names the customers"),
            ("appAccountToken,link\nx,y\n", "has a column link already"),
            (
                "appAccountToken,mail\nd3b07384-d113-4ec6-a7b1-6f1c2f5e9b10\n",
                "line 2 of list.csv: the line has 1 columns"
            ),
            ("appAccountToken\nd3b07384-d113-4ec6-a7b1-6f1c2f5e9b10\nnonsense\n", "line 3 of list.csv"),
            ("appAccountToken\n\"d3b07384\n", "a quotation mark is not closed"),
        ])
    func faults(list: String, problem: String) throws {
        let outcome = try walk.shell(
            """
            \(settings)
            cat > list.csv <<'END'
            \(list)
            END
            [ -n "$(tr -d '\\n' <list.csv)" ] || : > list.csv
            offer-signer links make --campaign spring --customers list.csv --output mailing.csv || echo status $?
            ls mailing.csv* 2>/dev/null || echo no file
            """)
        #expect(outcome.standardError.contains(problem), "\(outcome.standardError)")
        #expect(outcome.standardOutput.contains("status") && outcome.standardOutput.contains("no file"))
    }

    @Test("a missing key, an unknown campaign and a file that exists are refused")
    func refused() throws {
        let make = "offer-signer links make --customers list.csv --output mailing.csv --campaign"
        let outcome = try walk.shell(
            """
            \(settings)
            \(make) sprnig 2>&1 || true
            SUBSCRIPTION_OFFERS_LINKS_KEY= \(make) spring 2>&1 || true
            SUBSCRIPTION_OFFERS_LINKS_URL= \(make) spring 2>&1 || true
            touch mailing.csv
            \(make) spring 2>&1 || true
            """)
        for text in [
            "did you mean spring", "LINKS_KEY is not set", "LINKS_URL is not set", "mailing.csv exists already",
        ] {
            #expect(outcome.standardOutput.contains(text), "\(text): \(outcome.standardOutput)")
        }
    }

    /// Adds a subscription of an account that is active now.
    private func addSubscription(_ account: String) async throws {
        let store = try #require(StoreLocation("sqlite:\(walk.folder.path)/subscribers.sqlite")).open()
        let today = (Date().timeIntervalSince1970 * 1000 - Double(Sample.day(0).milliseconds)) / 86_400_000
        let id = "2000000100000001"
        let token = UUIDText(parsing: Array(account.utf8))
        let transaction = Sample.transaction(id, of: id, today - 1, today + 29) { $0.appAccountToken = token }
        try await store.merge([transaction, Sample.renewal(of: id, signed: today - 1)], in: Sample.production)
        try store.close()
    }
}
