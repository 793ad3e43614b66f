import OfferConsole
import Testing

@testable import OfferService

@Suite("Health in the console")
struct HealthPageTests {
    @Test("every check of readiness probes has words, and the console shows no other")
    func checks() {
        #expect(HealthCheck.allCases.map(\.rawValue) == HealthReport.Check.allCases.map(\.rawValue))
    }
}
