import Testing

@testable import OfferConsole

@Suite("HTML")
struct HTMLTests {
    @Test("literals are verbatim, and interpolated text is escaped")
    func escaping() {
        let name = #"<script>alert("1")</script> & 'more'"#
        let html: HTML = #"<p title="\#(name)">\#(name)</p>"#
        let escaped = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;more&#39;"
        #expect(html.text == #"<p title="\#(escaped)">\#(escaped)</p>"#)
    }

    @Test("nested HTML is not escaped again, and nil is empty")
    func nesting() {
        let bold: HTML = "<b>\("a&b")</b>"
        let none: HTML? = nil
        let html: HTML = "\(bold)\([bold, bold])\(none)\(-3)\(Int64.min)\("x-y".split(separator: "-")[1])"
        let text = "<b>a&amp;b</b>"
        #expect(html.text == "\(text)\(text)\(text)-3-9223372036854775808y")
    }

    @Test("a string from a condition is text, not markup", arguments: [true, false])
    func stringsOfExpressions(flag: Bool) {
        let html: HTML = "\(flag ? "<b>" : "<i>")"
        #expect(html.text == (flag ? "&lt;b&gt;" : "&lt;i&gt;"))
    }

    @Test(
        "characters that HTML forbids, or that reorder text, become U+FFFD",
        arguments: ["\u{0}", "\u{8}", "\u{1B}", "\u{7F}", "\u{85}", "\u{202E}", "\u{2066}", "\u{2069}", "\u{FFFE}"])
    func forbidden(character: String) {
        let html: HTML = "\("a\(character)b")"
        #expect(html.text == "a\u{FFFD}b")
    }

    @Test("other text is unchanged", arguments: ["a\tb\r\nc", "é", "שלום\u{200F}", "👩‍👩‍👧", "漢字", "e\u{301}"])
    func unchanged(text: String) {
        let html: HTML = "\(text)"
        #expect(Array(text.utf8) == html.utf8)
    }

    @Test("user text is cut at whole scalars, and says its size")
    func longText() {
        let html = UserText.text(String(repeating: "é<", count: 400_000))
        #expect(html.utf8.count < 4000)
        #expect(html.text.contains("(1,200,000 bytes in all)"))
        #expect(!html.text.contains("\u{FFFD}"))
        #expect(UserText.text("short").text == "<bdi>short</bdi>")
        #expect(UserText.short("éé", bytes: 3) == "é…")
    }

    @Test("addresses are percent-encoded")
    func addresses() {
        let address = PageAddress("/find", ["q": "a b&c=d+é/\"<"]).with("app", "com.example")
        #expect(address.text == "/find?q=a%20b%26c%3Dd%2B%C3%A9%2F%22%3C&app=com.example")
        let html: HTML = #"<a href="\#(address)">"#
        #expect(html.text.contains("&amp;app="))
        #expect(address.hiddenFields.count == 2)
    }
}
