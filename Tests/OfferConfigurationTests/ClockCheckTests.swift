import Foundation
import OfferCore
import Testing

@testable import OfferConfiguration

@Suite("Clock")
struct ClockCheckTests {
    private let check = ClockCheck(buildDay: "Jan  1 2026")

    private func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

    @Test("a clock earlier than the build date is wrong, whatever the build machine's time zone")
    func beforeBuild() throws {
        #expect(check.problem(now: try date("2025-12-30T23:59:59Z"), files: [])?.error.contains("built") == true)
        #expect(check.problem(now: try date("2025-12-31T00:00:01Z"), files: []) == nil)
        #expect(check.problem(now: try date("2030-01-01T00:00:00Z"), files: []) == nil)
    }

    @Test("a file timestamp more than a minute in the future is reported")
    func fileFromTheFuture() throws {
        let now = try date("2026-06-01T12:00:00Z")
        let files = [("old", try date("2026-05-01T12:00:00Z")), ("new", try date("2026-06-01T12:01:30Z"))]
        #expect(
            check.problem(now: now, files: files)?.error.contains("new is from 2026-06-01T12:01:30Z") == true)
        #expect(check.problem(now: now.addingTimeInterval(60), files: files) == nil)
    }

    @Test("an unreadable build date is ignored")
    func noBuildDay() throws {
        #expect(ClockCheck(buildDay: "???").problem(now: try date("1970-01-02T00:00:00Z"), files: []) == nil)
    }
}
