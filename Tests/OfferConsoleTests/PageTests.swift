import ConsoleSamples
import OfferCore
import Testing

@testable import OfferConsole

@Suite("Pages")
struct PageTests {
    static let pages = Samples.pages

    @Test("every page is well-formed", arguments: pages.map(\.name))
    func wellFormed(name: String) throws {
        let page = try #require(Self.pages.first { $0.name == name }).html.text
        let markup = try MarkupReader(page)
        let ids = markup.tags.compactMap { $0.attributes["id"] }
        #expect(Set(ids).count == ids.count, "an ID occurs twice")
        #expect(markup.tags.count { $0.name == "h1" } == 1 && markup.tags.count { $0.name == "main" } == 1)
        for tag in markup.tags {
            #expect(tag.name != "script" && tag.attributes["style"] == nil)
            #expect(!tag.attributes.keys.contains { $0.hasPrefix("on") })
            for key in ["href", "action", "src"] {
                guard let address = tag.attributes[key] else { continue }
                #expect(address.hasPrefix("/") && !address.hasPrefix("//") || address == "#main")
            }
            for key in ["for", "aria-labelledby", "aria-describedby"] {
                guard let id = tag.attributes[key] else { continue }
                #expect(ids.contains(id), "\(key)=\(id)")
            }
        }
    }

    @Test("the navigation has only the sections that a role may open", arguments: ConsoleRole.allCases)
    func navigation(role: ConsoleRole) {
        let frame = PageFrame(person: ConsolePerson(name: "Ada", roles: [role]), clock: .utc, version: "1")
        let page = frame.page("Test", in: .audit, "<h1>Test</h1>").text
        for section in ConsoleSection.allCases {
            #expect(page.contains(#"<li><a href="\#(section.address.text)""#) == section.roles.contains(role))
        }
        #expect(page.contains(#"<a href="/audit" aria-current="page">"#))
    }

    @Test("a page for nobody has no navigation and no form for the clock")
    func signedOut() {
        let page = SignInView(frame: PageFrame(person: nil, clock: .utc, version: "1", address: nil)).html.text
        #expect(!page.contains("<nav") && !page.contains("<form") && page.contains("Times are in UTC."))
    }

    @Test("hostile text stays text, and long text is cut")
    func hostile() throws {
        let page = try #require(Self.pages.first { $0.name == "customer-hostile" }).html.text
        #expect(!page.contains("<script") && !page.contains("<img") && page.contains("&lt;script&gt;"))
        #expect(!page.unicodeScalars.contains("\u{202E}") && !page.unicodeScalars.contains("\u{0}"))
        #expect(page.contains("(1,040,106 bytes in all)"))
    }

    @Test("error pages have their status and say what to do")
    func errors() {
        let frame = PageFrame(person: nil, clock: .utc, version: "1")
        #expect(
            ErrorView(frame: frame, .tooManyRequests(retryAfterSeconds: 1)).html.text.contains("Wait 1 second, then"))
        let forbidden = ErrorView(frame: frame, .forbidden([.auditor, .operator]))
        #expect(forbidden.status == 403)
        #expect(forbidden.html.text.contains("the role <b>operator</b> or <b>auditor</b>"))
    }

    @Test("the style sheet is embedded, and loads nothing")
    func styleSheet() {
        let css = String(decoding: StyleSheet.utf8, as: UTF8.self)
        #expect(css.contains("prefers-color-scheme: dark") && !css.contains("url(") && !css.contains("@import"))
    }

    @Test("unknown facts are told from refusals, and the eligible offers come first")
    func verdicts() {
        let unknown = OfferVerdict.Reason("The fact x is not known.", remedy: "Set it.")
        let refused = OfferVerdict.Reason("No.")
        func html(_ reasons: [OfferVerdict.Reason]) -> String {
            OfferVerdict(offerID: "o", productID: "p", rule: nil, reasons: reasons).html(grantedFrom: nil).text
        }
        #expect(html([]).contains("eligible</span>") && !html([]).contains("not eligible"))
        #expect(html([unknown]).contains("not known</span>") && html([unknown]).contains("<b>Set it.</b>"))
        #expect(html([unknown, refused]).contains("not eligible</span>"))
        let page = Samples.pages.first { $0.name == "customer" }?.html.text ?? ""
        let list = page.split(separator: "<ul class=\"verdicts\">", maxSplits: 1).last ?? ""
        #expect(list.split(separator: "<code>").dropFirst().first?.hasPrefix("<bdi>stay") == true)
    }

    @Test("a picture of periods bears any times", arguments: [Int64.min, -1, 0, 1_795_769_220_000, .max])
    func periodTimes(milliseconds: Int64) {
        let times = [Timestamp(milliseconds: milliseconds), Timestamp(milliseconds: 0), Timestamp(milliseconds: .max)]
        for start in times {
            for end in times {
                let bar = PeriodChart.Bar(start: start, end: end, kind: .regular, refundedAt: start, text: "<")
                let row = PeriodChart.Row(label: "<", bars: [bar], offers: [end])
                let chart = PeriodChart([row], now: Timestamp(milliseconds: 1_795_769_220_000), clock: .utc)
                #expect(chart?.html.text.contains("nan") != true)
            }
        }
    }
}
