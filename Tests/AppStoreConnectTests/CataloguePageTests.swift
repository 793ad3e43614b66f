import AppStoreConnect
import OfferCore
import OfferEligibility
import TestSupport
import Testing

/// Compares docs/catalogue.md with the program.
@Suite("docs/catalogue.md")
struct CataloguePageTests {
    private let page: MarkdownPage

    init() throws { page = try MarkdownPage("docs/catalogue.md") }

    /// The code spans in the first column of the table whose heading begins with `heading`, and the second column.
    private func table(_ heading: String) throws -> [(names: [String], text: String)] {
        let start = try #require(page.rows.firstIndex { $0[0] == heading })
        let width = page.rows[start].count
        return page.rows[(start + 2)...].prefix { $0.count == width && $0[0].hasPrefix("`") }.map { row in
            (row[0].matches(of: /`([^`]+)`/).map { String($0.output.1) }, row[1])
        }
    }

    @Test("the page explains every finding once, with its severities")
    func findings() throws {
        let rows = try table("finding")
        let names = rows.flatMap(\.names)
        #expect(Set(names) == Set(CatalogueFinding.Code.allCases.map(\.rawValue)))
        #expect(names.count == CatalogueFinding.Code.allCases.count)
        let severities = Set(CatalogueFinding.Severity.allCases.map(\.rawValue))
        for row in rows {
            let named = row.text.split(separator: ", ").map(String.init)
            #expect(!named.isEmpty && severities.isSuperset(of: named), "\(row)")
        }
    }

    @Test("the page says what to do about every failure that operators can meet")
    func failures() throws {
        let app = try BundleID(utf8: Array("com.example.app".utf8))
        let failures: [AppStoreConnectFailure] = [
            .unauthorised(nil), .agreementMissing, .forbidden, .limited(until: Timestamp(milliseconds: 0)),
            .status(502), .unreachable("the host x cannot be reached"), .timedOut, .unreadable("it is not JSON"),
            .unknownApp(app),
        ]
        let messages = try table("message").flatMap(\.names)
        for message in messages {
            let parts = message.split(separator: "…", omittingEmptySubsequences: true)
            let isPrinted = failures.contains { failure in
                let text = "\(failure)"
                return parts.allSatisfy { text.contains($0) } && text.hasPrefix(parts[0])
            }
            // The last one is not a message, but what the messages are about.
            #expect(isPrinted || message == "api.appstoreconnect.apple.com", "\(message)")
        }
        for failure in failures {
            let isExplained = messages.contains { message in
                message.split(separator: "…").allSatisfy { "\(failure)".contains($0) }
            }
            #expect(isExplained, "\(failure)")
        }
    }
}
