import OfferConsole
import TestSupport
import Testing

@Suite("docs/console.md: roles")
struct RolesPageTests {
    /// The section of each row of the table.
    private static let sections: [String: ConsoleSection] = [
        "Find, and the page of a customer": .find, "Offers": .offers, "Grants, approving and withdrawing them": .grants,
        "Lists of customers": .lists, "Reports": .reports, "Rules": .rules,
        "Alarms, and acknowledging them": .alarms, "Deliveries, and sending dead letters again": .deliveries,
        "Health": .health, "Audit: one's own activity": .audit,
    ]

    @Test("the table has the roles that may open each section")
    func table() throws {
        let rows = try MarkdownPage("docs/console.md").rows
        let head = try #require(rows.first { $0.first == "page" })
        let roles = try head.dropFirst().map { cell in
            try #require(ConsoleRole(rawValue: cell.replacing("`", with: "")))
        }
        #expect(roles == ConsoleRole.allCases)
        func documented(_ name: String) throws -> Set<ConsoleRole> {
            let row = try #require(rows.first { $0.first == name }, "\(name)")
            return Set(zip(roles, row.dropFirst()).filter { $0.1 == "yes" }.map(\.0))
        }
        #expect(Set(Self.sections.values) == Set(ConsoleSection.allCases))
        for (name, section) in Self.sections { #expect(try documented(name) == Set(section.roles), "\(name)") }
        #expect(try documented("Audit: the activity of everybody") == [.auditor])
    }
}
