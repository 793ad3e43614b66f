import OfferCore
import OfferEligibility
import StoreTestSupport
import Testing

@testable import AppStoreAPI

@Suite("The budget of requests to the App Store")
struct RequestBudgetTests {
    private func take(_ budget: RequestBudget, _ endpoint: APIEndpoint, at time: Timestamp, in app: AppScope) -> Int {
        var count = 0
        while budget.take(endpoint, of: app, at: time) == nil { count += 1 }
        return count
    }

    @Test("a new process begins with half a minute's requests, and saves up five minutes' at most")
    func share() {
        let (budget, start) = (RequestBudget(), Sample.day(0))
        #expect(take(budget, .subscriptionStatuses, at: start, in: Sample.production) == 1350)
        #expect(take(budget, .subscriptionStatuses, at: start + .seconds(10), in: Sample.production) == 450)
        #expect(take(budget, .subscriptionStatuses, at: start + .hours(1), in: Sample.production) == 13_500)
    }

    @Test("even the rarest request can be sent ten times at once")
    func rare() {
        #expect(take(RequestBudget(), .testNotificationStatus, at: Sample.day(0), in: Sample.sandbox) == 10)
    }
}
