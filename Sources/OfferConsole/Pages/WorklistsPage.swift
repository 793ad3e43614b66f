package import OfferCore

/// `GET /lists` without a list: the lists that there are.
package final class WorklistsView: Sendable {
    package enum Kind: Sendable {
        case offer(String, productID: String)
        case billingRetry, priceIncrease
    }

    package struct List: Sendable {
        let app: String
        let environment: String
        let kind: Kind
        /// True if the list has also customers whom only their place in a sample keeps from the offer.
        let includesHeldOut: Bool
        let address: PageAddress
        /// The same list with the customers who are held out; nil for lists that are not about an offer.
        let withHeldOut: PageAddress?

        package init(
            app: String, environment: String, kind: Kind, includesHeldOut: Bool, address: PageAddress,
            withHeldOut: PageAddress?
        ) {
            self.app = app
            self.environment = environment
            self.kind = kind
            self.includesHeldOut = includesHeldOut
            self.address = address
            self.withHeldOut = withHeldOut
        }
    }

    let frame: PageFrame
    let lists: [List]

    package init(frame: PageFrame, lists: [List]) {
        self.frame = frame
        self.lists = lists
    }

    package var html: HTML {
        frame.page("Lists of customers", in: .lists, "<h1>Lists of customers</h1>\n\(content)")
    }

    private var content: HTML {
        guard !lists.isEmpty else {
            return Blocks.empty("No app is configured", "Name the apps and their offers in the configuration file.")
        }
        return Blocks.section(
            "lists", "Whom to write to", count: lists.count,
            """
            <p class="note">A list names the customers for whom it holds now, by the stored data. Each list that you open \
            or download has a line in the audit trail.</p>
            \(Blocks.table("Lists", head: ["Customers", "App", "List"], rows: lists.map(row)))
            """)
    }

    private func row(_ list: List) -> HTML {
        let hidden: HTML =
            #"<span class="visually-hidden"> of customers \#(list.kind.words) in \#(list.environment)</span>"#
        let all: HTML? = list.withHeldOut.map {
            #"<br><a href="\#($0)">With those held out\#(hidden)</a>"#
        }
        return """
            <tr><th scope="row">\(list.kind.words)</th>
            <td>\(UserText.text(list.app))<br>\(list.environment)</td>
            <td><a href="\(list.address)">Open the list\(hidden)</a>\(all)</td></tr>

            """
    }
}

extension WorklistsView.Kind {
    /// The end of a sentence about customers.
    fileprivate var words: HTML {
        switch self {
        case .offer(let offerID, let productID):
            "who may have \(UserText.code(offerID)) for \(UserText.code(productID))"
        case .billingRetry: "whose renewal failed, and who have no access"
        case .priceIncrease: "who have not agreed to a higher price"
        }
    }
}

/// `GET /lists` with a list: a part of it.
package final class WorklistView: Sendable {
    package struct Customer: Sendable {
        let identifier: String
        let productID: String
        let status: String
        let endsAt: Timestamp?
        let storefront: String?
        let isHeldOut: Bool
        /// nil for persons who may not look at customers.
        let page: PageAddress?

        package init(
            identifier: String, productID: String, status: String, endsAt: Timestamp?, storefront: String?,
            isHeldOut: Bool, page: PageAddress?
        ) {
            self.identifier = identifier
            self.productID = productID
            self.status = status
            self.endsAt = endsAt
            self.storefront = storefront
            self.isHeldOut = isHeldOut
            self.page = page
        }
    }

    /// A name that the first column of the file can have.
    package struct Name: Sendable {
        let kind: String
        let words: String
        /// The customers of the part who have such a name.
        let count: Int

        package init(kind: String, words: String, count: Int) {
            self.kind = kind
            self.words = words
            self.count = count
        }
    }

    /// The customers that the page shows. The file has all.
    package static let maximumRows = 100

    let frame: PageFrame
    let list: WorklistsView.List
    let isFirst: Bool
    /// The customers of the part.
    let count: Int
    let customers: [Customer]
    let names: [Name]
    let csv: PageAddress
    /// The next part; nil if this is the last.
    let next: PageAddress?

    package init(
        frame: PageFrame, list: WorklistsView.List, isFirst: Bool, count: Int, customers: [Customer], names: [Name],
        csv: PageAddress, next: PageAddress?
    ) {
        self.frame = frame
        self.list = list
        self.isFirst = isFirst
        self.count = count
        self.customers = customers
        self.names = names
        self.csv = csv
        self.next = next
    }

    package var html: HTML {
        // The title is in the history of the browser.
        frame.page(
            "List of customers", in: .lists,
            """
            <p class="back"><a href="/lists">← All lists</a></p>
            <h1>Customers \(list.kind.words)</h1>
            <p>\(UserText.text(list.app)), \(list.environment)\(heldOut)</p>
            \(partNotice)\(table)\(pages)
            """)
    }

    private var heldOut: HTML? {
        guard list.withHeldOut != nil else { return nil }
        return list.includesHeldOut
            ? ", with customers who are held out. To contact them spoils the comparison"
            : ", without customers who are held out"
    }

    private var partNotice: HTML? {
        guard !isFirst || next != nil else { return nil }
        return Blocks.notice(
            .information, next == nil ? "This is the last part of the list." : "This is a part of the list.",
            """
            <p>A large list is read in parts. Download each part, or make the whole list with <code>offer-signer \
            customers list</code>.</p>
            """)
    }

    private var table: HTML {
        guard count > 0 else {
            return next == nil
                ? Blocks.empty(isFirst ? "No customer is on the list now" : "No customer is in this part")
                : Blocks.empty("No customer is in this part", "Go on with the next part.")
        }
        let rest: HTML? =
            count > customers.count
            ? "<p class=\"note\">The first \(Words.grouped(Int64(customers.count))) are shown. The file has all.</p>"
            : nil
        let head: [StaticString] = ["Customer", "Product", "State", "Ends", "Storefront", "Held out"]
        return Blocks.section(
            "customers", "Customers", count: count,
            "\(file)\(rest)\(Blocks.table("Customers", head: head, rows: customers.map(row)))")
    }

    private var file: HTML {
        let options = names.html { name in
            Form.option(
                name.kind, name.words + " (" + Words.grouped(Int64(name.count)) + ")",
                isSelected: name.kind == best?.kind)
        }
        return """
            <form class="filter" method="get" action="\(csv.path)">\(csv.hiddenFields)
            \(Form.select("name", label: "Name customers by", options))<button>Download as CSV</button></form>
            <p class="note">The file is one that <code>offer-signer links make</code> takes. Customers without such a name are \
            not in it.</p>
            """
    }

    /// The first name that every customer has, or else the one that most have.
    private var best: Name? {
        names.max { $0.count < $1.count }.flatMap { most in names.first { $0.count == most.count } }
    }

    private func row(_ customer: Customer) -> HTML {
        let name = UserText.code(customer.identifier)
        return Blocks.row([
            customer.page.map { #"<a href="\#($0)">\#(name)</a>"# } ?? name, UserText.code(customer.productID),
            "\(customer.status)", customer.endsAt.map { frame.clock.html($0) } ?? "–",
            customer.storefront.map { "\($0)" } ?? "–", customer.isHeldOut ? "yes" : "no",
        ])
    }

    private var pages: HTML? {
        next.map { #"<nav class="pages" aria-label="Pages"><a rel="next" href="\#($0)">Next part →</a></nav>"# }
    }
}
