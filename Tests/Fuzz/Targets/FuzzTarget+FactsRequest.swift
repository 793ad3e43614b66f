import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore

extension FuzzTarget {
    /// The body of `PUT /v1/customers/facts`, about one customer or a list.
    static let factsRequest = FuzzTarget("facts-request") { input throws(BrokenPromise) in
        let request = HTTPRequest(method: "PUT", target: "/", contentType: "application/json", body: input)
        guard let members = try? RequestMembers.read(request, maximumCount: CustomerFactsRequest.maximumCount),
            let customers = try? CustomerFactsRequest(members).customers
        else { return }
        try promise("the number of customers is bounded", CustomerFactsRequest.customerCounts.contains(customers.count))
        try promise("without a list, there is one customer", members["customers"] != nil || customers.count == 1)
        let scopes = customers.map { [$0.customer.bundleID.text.description, $0.customer.environment?.rawValue] }
        try promise("all customers have the same app and environment", Set(scopes).count == 1)
        for (customer, statement) in customers {
            try promise("the facts are about the customer", statement.identifier == customer.identifier)
            try promise("the number of facts is bounded", CustomerFactsRequest.counts.contains(statement.values.count))
            for (name, value) in statement.values {
                try promise("a name is short", (1...TeamFact.maximumNameSize).contains(name.utf8.count))
                try promise("a value is bounded", isBounded(value))
            }
        }
    }

    private static func isBounded(_ value: TeamFactValue?) -> Bool {
        switch value {
        case nil, .bool: true
        case .text(let utf8): utf8.count <= CustomerFactsRequest.maximumTextSize && !utf8.contains(0)
        case .number(let utf8):
            (1...CustomerFactsRequest.maximumNumberSize).contains(utf8.count)
                && Double(String(decoding: utf8, as: UTF8.self))?.isFinite == true
        }
    }
}
