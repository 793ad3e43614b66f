/// `GET /find`: one box for all identifiers that customers know.
///
/// Fields: `q`, up to 512 bytes; `app`, a bundle ID, if there are several apps.
package final class FindView: Sendable {
    package enum Result: Sendable {
        /// - `tried`: what was looked up, and where; a sentence each.
        /// - `hints`: what could help; a sentence each.
        case notFound(tried: [String], hints: [String])
        case several([FoundCustomer])
        /// The database or the App Store does not answer.
        case unavailable(String)
    }

    let frame: PageFrame
    let query: String
    /// The bundle IDs of the configured apps.
    let apps: [String]
    let app: String?
    /// nil before the first search.
    let result: Result?

    package init(frame: PageFrame, query: String = "", apps: [String], app: String? = nil, result: Result? = nil) {
        self.frame = frame
        self.query = query
        self.apps = apps
        self.app = app
        self.result = result
    }

    package var html: HTML {
        frame.page(
            "Find a customer", in: .find,
            """
            <h1>Find a customer</h1>
            <form class="find card" method="get" action="/find" role="search">
            \(box)\(appSelect)<button class="primary">Find</button></form>
            \(result.map(resultBlock) ?? Self.firstBlock)
            """)
    }

    private var box: HTML {
        Form.text(
            "q", label: "Identifier", value: query, attributes: #" maxlength="512" required autofocus"#,
            hint: "Order ID, account token, username or any transaction ID")
    }

    private var appSelect: HTML? {
        guard apps.count > 1 else { return nil }
        let options = apps.html { Form.option($0, $0, isSelected: $0 == app) }
        return Form.select("app", label: "App", options)
    }

    private static let firstBlock: HTML = Blocks.empty(
        "Where to find an identifier",
        """
        The <b>order ID</b> is on the receipt that Apple mailed to the customer; it begins with M. The <b>account \
        token</b> is the UUID that your app passes to StoreKit. A <b>transaction ID</b> is a long number in your \
        backend’s records.
        """)

    private func resultBlock(_ result: Result) -> HTML {
        switch result {
        case .notFound(let tried, let hints):
            """
            <section class="card" aria-labelledby="result"><h2 id="result">No customer has this identifier</h2>
            <p>Searched for \(UserText.code(query)):</p>
            <ul class="plain">\(tried.html { "<li>\(Icon.cross)\($0)</li>" })</ul>
            <h3>What could help</h3>
            <ul>\(hints.html { "<li>\($0)</li>" })</ul></section>
            """
        case .several(let customers):
            Blocks.section(
                "result", "Customers", count: customers.count,
                """
                <p>The identifier matches more than one customer. Choose one.</p>
                \(Blocks.table(
                    "Customers", head: ["Customer", "App", "Environment", "Subscriptions"],
                    rows: customers.map(\.row)))
                """)
        case .unavailable(let sentence):
            Blocks.notice(
                .problem, "The search is not available.", "<p>\(sentence) Try again in a minute.</p>")
        }
    }
}

/// A customer in a list of results.
package final class FoundCustomer: Sendable {
    /// The identifier by which the customer is best known.
    let identifier: String
    let app: String
    let environment: String
    /// The states in a few words, such as `active until 2026-12-27`.
    let summary: String
    let address: PageAddress

    package init(identifier: String, app: String, environment: String, summary: String, address: PageAddress) {
        self.identifier = identifier
        self.app = app
        self.environment = environment
        self.summary = summary
        self.address = address
    }

    fileprivate var row: HTML {
        Blocks.row([
            #"<a href="\#(address)"><code>\#(UserText.text(identifier))</code></a>"#, UserText.text(app),
            "\(environment)", UserText.text(summary),
        ])
    }
}
