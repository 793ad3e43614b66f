import AppStoreData
import TestSupport
import Testing

@Suite("Reasons in docs/app-store-data.md")
struct AppStoreDataPageTests {
    /// The codes of all refusals.
    private static let codes =
        VerificationFailure.Code.allCases.map(\.rawValue) + CheckFailure.allCases.map(\.rawValue)
        + ReceiptRefusal.allCases.map(\.rawValue) + InspectionFailure.allCases.map(\.rawValue)
        + LegacyTransactionReceiptError.allCases.map(\.rawValue) + payloadCodes
        + [ReceiptFailure.payload(ReceiptPayloadError(.missing)).code]

    /// One reason for each code of a payload. The code `payload_not_json` is that of a verification too.
    private static let payloadCodes = [
        PayloadError(.unrecognised), PayloadError(.ambiguous([])), PayloadError(.missing),
        PayloadError(.wrongKind(expected: .transaction, found: .renewalInfo)),
        PayloadError(.wrongType(expected: "", found: "")),
    ].map(\.code)

    @Test("the page lists each code once, with what it means and what to do")
    func codes() throws {
        let rows = try MarkdownPage("docs/app-store-data.md").rows.filter { row in
            row.count == 3 && row[0].wholeMatch(of: /`\w+`/) != nil
        }
        let documented = rows.map { String($0[0].dropFirst().dropLast()) }.filter { $0.contains("_") }
        #expect(documented.count == Set(documented).count)
        #expect(Set(documented) == Set(Self.codes))
        #expect(rows.allSatisfy { row in row.allSatisfy { !$0.isEmpty } })
    }

    @Test("the page names each kind")
    func kinds() throws {
        let spans = try MarkdownPage("docs/app-store-data.md").codeSpans
        #expect(InspectedKind.allCases.map(\.rawValue).filter { !spans.contains($0) } == [])
    }
}
