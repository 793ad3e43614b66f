import OfferCore
import OfferHTTP

extension Application {
    /// Returns the endpoints of a role. Their paths, methods, scopes and lanes are declared here, except those of
    /// notifications and retention messages, which their types declare. 404, 405, HEAD and the metric labels derive
    /// from this table. A test checks that `openapi.json` has the same paths and methods.
    func endpoints(of role: ListenerRole) -> [Endpoint] {
        let isMetricsOnly = role == .metricsOnly
        let live = Endpoint.view("/health/live", for: .anyone) { _, _ in Endpoint.Answer(self.health.live) }
        let ready = Endpoint.view("/health/ready", for: .anyone) { request, admission throws(Problem) in
            try self.health.ready(for: request, admission, showsDetails: isMetricsOnly)
        }
        let metrics: [Endpoint] = [
            .view("/metrics", for: isMetricsOnly ? .anyAddress : .scope(.metrics)) { request, admission in
                self.metricsPage.answer(request, admission)
            }
        ]
        let work: [Endpoint] = [
            .work(
                ["GET", "POST"], "/offer", scope: .sign,
                .either(limit: signing.decisionLimit, idempotent.once(signing.answerSample))
            ).reading(store).servingWebPages(),
            .work(
                ["POST"], "/v1/promotional-offers", scope: .sign,
                .either(limit: signing.proofLimit, idempotent.once(signing.answerPromotionalOffers))
            ).acceptingProofs().reading(store).servingWebPages(),
            .work(
                ["POST"], "/v1/decisions", scope: .sign,
                .either(limit: signing.decisionLimit, idempotent.once(signing.answerDecisions))
            ).acceptingProofs().reading(store).servingWebPages(),
            .work(["POST"], "/v1/purchases", scope: .sign, purchases.handler).acceptingProofs().reading(store)
                .servingWebPages(),
            .work(
                ["POST"], "/v1/introductory-offers", scope: .introductory,
                .either(limit: signing.decisionLimit, idempotent.once(signing.answerIntroductoryOffer))
            ).acceptingProofs().reading(store).servingWebPages(),
            .work(
                ["POST"], "/v1/advanced-commerce", scope: .advancedCommerce,
                .either(
                    limit: signing.decisionLimit,
                    idempotent.once(signing.answerAdvancedCommerce))
            ).servingWebPages(),
            .work(["POST"], "/v1/offers/events", scope: .sign, events.handler).servingWebPages(),
            .work(["POST"], "/v1/explanations", scope: .explain, explanations.handler).servingWebPages(),
            .work(["POST"], "/v1/customers/lookup", scope: .customers, customers.lookup),
            .work(["POST"], "/v1/customers/list", scope: .customers, worklists.handler),
            .work(["PUT"], "/v1/customers/facts", scope: .facts, customers.facts),
            .work(["PUT"], "/v1/customers/links", scope: .facts, customers.links),
            .work(["DELETE"], "/v1/customers", scope: .erase, customers.erasure),
            .work(["DELETE", "GET", "POST"], "/v1/grants", scope: .grant, grants.grants),
            .work(["POST"], "/v1/grants/approve", scope: .grant, grants.approval),
            .work(["GET"], "/v1/reports/offers", scope: .reports, reportEndpoint.handler),
            .work(["GET"], "/v1/reports/subscriptions", scope: .reports, subscriptionReportEndpoint.handler),
            .view("/openapi.json", for: .anyAddress, shedsLoad: .all) { _, _ in OpenAPI.answer },
        ]
        // Many customers of a mailing can share an address, and their visits must not count against the API's limits.
        let links: [Endpoint] = [
            .view("/.well-known/apple-app-site-association", for: .anyone, shedsLoad: .all) { request, admission in
                self.linkPages.association(request, admission)
            },
            .view(LinkText.path + "{link}", for: .anyone, shedsLoad: .all) { request, admission in
                self.linkPages.page(request, admission)
            },
        ]
        // The addresses for notifications and links are public, so they serve no readiness details.
        let health = role == .notifications || role == .links ? [live] : [live, ready]
        return health + (role.contains(.offers) ? work : []) + (role.contains(.metrics) ? metrics : [])
            + (role.contains(.notifications) ? [notifications.endpoint, retention.endpoint] : [])
            + (role.contains(.links) ? links : [])
    }
}
