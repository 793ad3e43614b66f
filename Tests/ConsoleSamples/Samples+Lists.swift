import OfferConsole
import OfferCore

extension Samples {
    static var lists: [(name: String, html: HTML)] {
        let address = PageAddress("/lists", ["app": "com.example.app"])
        func list(_ kind: WorklistsView.Kind, includesHeldOut: Bool = false, app: String = "com.example.app")
            -> WorklistsView.List
        {
            let isOffer = if case .offer = kind { true } else { false }
            return WorklistsView.List(
                app: app, environment: "Production", kind: kind, includesHeldOut: includesHeldOut, address: address,
                withHeldOut: isOffer ? address.with("heldOut", "include") : nil)
        }
        func index(_ lists: [WorklistsView.List]) -> HTML {
            WorklistsView(frame: frame(PageAddress("/lists")), lists: lists).html
        }
        func part(
            _ list: WorklistsView.List, _ customers: [WorklistView.Customer], count: Int, isFirst: Bool = true,
            next: PageAddress? = nil
        ) -> HTML {
            WorklistView(
                frame: frame(address), list: list, isFirst: isFirst, count: count, customers: customers,
                names: [
                    WorklistView.Name(kind: "appAccountToken", words: "Account tokens", count: count / 2),
                    WorklistView.Name(kind: "originalTransactionID", words: "Original transactions", count: count),
                ], csv: PageAddress("/lists.csv", ["app": "com.example.app"]), next: next
            ).html
        }
        func customer(_ text: String, isHeldOut: Bool = false, opens: Bool = true) -> WorklistView.Customer {
            WorklistView.Customer(
                identifier: text, productID: text, status: "billing retry", endsAt: isHeldOut ? nil : days(-3),
                storefront: isHeldOut ? nil : "DEU", isHeldOut: isHeldOut,
                page: opens ? PageAddress("/customer", ["id": text]) : nil)
        }
        let offer = WorklistsView.Kind.offer("winback", productID: "com.example.app.pro")
        let hostile = #"<script>document.title='owned'</script>"'>"# + String(repeating: "long", count: 500)
        let many = (1...3).map { customer("200000010000000\($0)") }
        return [
            ("lists", index([list(offer), list(.billingRetry), list(.priceIncrease)])), ("lists-empty", index([])),
            (
                "list-part",
                part(
                    list(offer, includesHeldOut: true), many + [customer("sam", isHeldOut: true, opens: false)],
                    count: 10_004, next: address.with("from", "5001"))
            ),
            ("list-last", part(list(.priceIncrease), many, count: 3, isFirst: false)),
            ("list-nobody", part(list(.billingRetry), [], count: 0)),
            ("list-nobody-yet", part(list(.billingRetry), [], count: 0, next: address.with("from", "5001"))),
            (
                "list-hostile",
                part(list(.offer(hostile, productID: hostile), app: hostile), [customer(hostile)], count: 1)
            ),
        ]
    }
}
