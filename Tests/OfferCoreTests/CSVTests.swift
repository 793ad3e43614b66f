import OfferCore
import Testing

@Suite("CSV")
struct CSVTests {
    private func line(_ cells: CSV.Cell...) -> String {
        var table = CSV(head: ["a"])
        table.add(cells)
        return String(table.text.dropFirst("a\r\n".unicodeScalars.count - 1))
    }

    @Test("a text with a comma, a quotation mark or a line break is quoted")
    func quoting() {
        #expect(
            line(.text("a,b"), .text("say \"x\""), .text("two\nlines"), .text("two\r\nlines")).utf8.elementsEqual(
                "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\"two\r\nlines\"\r\n".utf8))
        #expect(line(.text("plain"), .empty, CSV.Cell(nil), .number(-7)) == "plain,,,-7\r\n")
    }

    @Test(
        "a text never becomes a formula",
        arguments: ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\u{FF1D}1", "=HYPERLINK(\"x\",\"y\")"])
    func formulas(text: String) {
        let written = line(.text(text))
        #expect(written.hasPrefix("'") || written.hasPrefix("\"'"))
        #expect(line(.text("a" + text)).contains("a") && !line(.text("a" + text)).contains("'"))
    }
}
