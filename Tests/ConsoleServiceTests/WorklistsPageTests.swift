import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import Testing

@testable import ConsoleService

@Suite("Lists of customers in the console")
struct WorklistsPageTests {
    private static let configuration = """
        apps:
          - bundleID: com.example.app
            appAppleID: 1234567890
            environments: [Production, Sandbox]
            products:
              - productID: monthly
                offers:
                  - {offerID: stay, rule: leaving}
                  - {offerID: half, rule: {all: [{subscription: {status: active}}, {share: {of: 0.5, by: s}}]}}
        rules:
          leaving: {subscription: {status: active, autoRenew: off}}
        """
    private static let stay = "/lists?app=com.example.app&environment=Production&product=monthly&offer=stay"

    /// Adds customers with an account, of whom every second has turned auto-renew off.
    private static func addCustomers(_ console: TestConsole, _ count: UInt64 = 8) async throws {
        for number in 1...count {
            let id = "\(9_000_000_000_000 + number)"
            let transaction = Sample.transaction(id, of: id, 0, 30) {
                $0.ownership = .purchased
                $0.appAccountToken = number == 2 ? nil : Sample.token(number)
                $0.appTransactionID = Sample.id("7041000000\(number)")
            }
            let renewal = Sample.renewal(of: id, signed: 1) {
                let product = $0.productID
                $0 = Renewal(productID: product, autoRenewStatus: number.isMultiple(of: 2) ? .off : .on)
                $0.autoRenewProductID = product
            }
            try await console.store.merge([transaction, renewal], in: Sample.production)
        }
    }

    private static func lines(_ response: HTTPResponse) -> [String] {
        response.text.replacing("\r\n", with: "\n").split(separator: "\n").map(String.init)
    }

    @Test("a list names the customers who may have the offer, and its file has the name that was chosen")
    func list() async throws {
        let console = try await TestConsole(Self.configuration)
        try await Self.addCustomers(console)
        let cookie = try await console.signIn(["marketing"])
        let page = await console.get(Self.stay, cookie: cookie)
        #expect(page.status == 200)
        for number in 1...8 as ClosedRange<UInt64> {
            let name = number == 2 ? "9000000000002" : "\(Sample.token(number))"
            #expect(page.text.contains(name) == number.isMultiple(of: 2), "\(number)")
        }
        #expect(!page.text.contains("/customer?"), "marketing does not look at customers")
        #expect(!page.text.contains("This is a part"))
        #expect(page.text.contains("Account tokens (3)") && page.text.contains("Original transactions (4)"))
        let file = Self.stay.replacing("/lists", with: "/lists.csv")
        let tokens = await console.get(file + "&name=appAccountToken", cookie: cookie)
        #expect(tokens.values(of: "Content-Disposition") == [#"attachment; filename="customers.csv""#])
        #expect(Self.lines(tokens).first == "appAccountToken,productID,status,endsAt,storefront,heldOut")
        #expect(Self.lines(tokens).count == 4)
        let transactions = await console.get(file + "&name=originalTransactionID", cookie: cookie)
        #expect(Self.lines(transactions).dropFirst().map { $0.prefix(13) }.last == "9000000000008")
        #expect(await console.get(file + "&name=transactionID", cookie: cookie).status == 400)
        let support = await console.get(Self.stay, cookie: try await console.signIn(["support"]))
        #expect(support.text.contains("/customer?app=com.example.app"))
    }

    @Test("customers who are held out are listed only on request")
    func heldOut() async throws {
        let console = try await TestConsole(Self.configuration)
        try await Self.addCustomers(console, 40)
        let cookie = try await console.signIn(["marketing"])
        let half = Self.stay.replacing("offer=stay", with: "offer=half").replacing("/lists", with: "/lists.csv")
        let some = Self.lines(await console.get(half + "&name=originalTransactionID", cookie: cookie))
        let all = Self.lines(await console.get(half + "&heldOut=include&name=originalTransactionID", cookie: cookie))
        #expect(all.count == 41 && some.count < all.count)
        #expect(some.dropFirst().allSatisfy { $0.hasSuffix("false") })
        #expect(all.count { $0.hasSuffix("true") } == all.count - some.count)
    }

    @Test("the parts of a list make the whole list, and a file ends where its part ends")
    func parts() async throws {
        let console = try await TestConsole(Self.configuration)
        try await Self.addCustomers(console)
        let cookie = try await console.signIn(["marketing"])
        let numbers = try #require(try await console.store.subscriptionNumbers(in: Sample.production))
        let middle = numbers.lowerBound + 4
        func file(_ part: String) async -> [String] {
            let file = Self.stay.replacing("/lists", with: "/lists.csv")
            let csv = await console.get(file + "&name=originalTransactionID\(part)", cookie: cookie)
            return Array(Self.lines(csv).dropFirst())
        }
        let (first, second) = (await file("&before=\(middle)"), await file("&from=\(middle)"))
        let whole = await file("")
        #expect(first.count == 2 && second.count == 2 && first + second == whole)
        let page = await console.get(Self.stay + "&from=\(middle)", cookie: cookie)
        #expect(page.text.contains("This is the last part") && !page.text.contains("9000000000002"))
        #expect(await console.get(Self.stay + "&from=x", cookie: cookie).status == 400)
        #expect(await console.get(Self.stay + "&from=-1", cookie: cookie).status == 400)
    }

    @Test("each part and each file has its line with the offer or the state, and a link of another site reads nothing")
    func audit() async throws {
        let console = try await TestConsole(Self.configuration)
        try await Self.addCustomers(console)
        let cookie = try await console.signIn(["marketing"])
        let retry = "app=com.example.app&environment=Sandbox&state=billing_retry"
        for target in [
            "/lists", "/lists?\(retry)", Self.stay,
            Self.stay.replacing("/lists", with: "/lists.csv") + "&name=appAccountToken",
        ] {
            let other = await console.respond(
                HTTPRequest(
                    method: "GET", target: target, host: "console.example",
                    browser: BrowserHeaders(cookies: [cookie], fetchSite: "cross-site")))
            #expect(!other.text.contains("900000000000"), "\(target)")
            #expect(try console.auditLines().count == 1, "\(target)")
        }
        let index = await console.get("/lists", cookie: cookie)
        #expect(index.text.contains("/lists?\(retry)".replacing("&", with: "&amp;")))
        let nobody = await console.get("/lists?\(retry)", cookie: cookie)
        #expect(nobody.text.contains("No customer is on the list now"))
        _ = await console.get(Self.stay, cookie: cookie)
        _ = await console.get(
            Self.stay.replacing("/lists", with: "/lists.csv") + "&name=appAccountToken", cookie: cookie)
        let lines = Array(try console.auditLines().dropFirst())
        #expect(lines.count == 3 && lines.allSatisfy { $0.contains("console_worklist") })
        #expect(lines.first?.contains(#""about":"billing_retry""#) == true)
        #expect(lines.last?.contains(#""offerID":"stay""#) == true)
    }

    @Test(
        "there is no list of what the configuration does not have",
        arguments: [
            "app=com.example.other&environment=Production&state=billing_retry",
            "app=com.example.app&environment=Xcode&state=billing_retry",
            "app=com.example.app&environment=Production&state=active", "app=com.example.app&environment=Production",
            "app=com.example.app&environment=Production&product=monthly&offer=none",
            "app=com.example.app&environment=Production&product=monthly&offer=stay&state=billing_retry",
        ])
    func unknown(query: String) async throws {
        let console = try await TestConsole(Self.configuration)
        let cookie = try await console.signIn(["marketing"])
        #expect(await console.get("/lists?\(query)", cookie: cookie).status == 404)
        #expect(await console.get("/lists.csv?\(query)&name=appAccountToken", cookie: cookie).status == 404)
        #expect(try console.auditLines().count == 1)
    }
}
