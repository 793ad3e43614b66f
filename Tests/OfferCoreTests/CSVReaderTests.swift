import OfferCore
import Testing

@Suite("Comma-separated values are read strictly")
struct CSVReaderTests {
    private static func read(_ text: String) throws -> (head: [String], records: [[String]], lines: [Int]) {
        var reader = try CSVReader(Array(text.utf8))
        var (records, lines): ([[String]], [Int]) = ([], [])
        while let record = try reader.next() {
            records.append(record)
            lines.append(reader.line)
        }
        return (reader.head, records, lines)
    }

    @Test("quotation marks, line breaks inside them, empty values and lines, a mark of the order of bytes, semicolons")
    func records() throws {
        let table = try Self.read("\u{FEFF}name,mail\r\n\"Doe, \"\"Jo\"\"\nJunior\",a@example.com\n\n,\r\nlast,x")
        #expect(table.head == ["name", "mail"])
        #expect(table.records == [["Doe, \"Jo\"\nJunior", "a@example.com"], ["", ""], ["last", "x"]])
        #expect(table.lines == [2, 5, 6])
        #expect(try Self.read("a;b\n1,5;2").records == [["1,5", "2"]])
        #expect(try Self.read("\"a,\n\";b\n1,5;2").head == ["a,\n", "b"], "what is quoted does not count")
        #expect(try Self.read("a\n").records == [])
    }

    @Test(
        "anything else is refused with its line",
        arguments: [
            ("", 1), ("\n", 1), ("a,a\n", 1), ("a,b\n1\n", 2), ("a,b\n1,2,3\n", 2), ("a\n\"x\n", 2),
            ("a\n1\n\"x\"y\n", 3),
            ("a\nx\"y\n", 2),
        ])
    func refused(text: String, line: Int) {
        #expect {
            _ = try Self.read(text)
        } throws: { error in
            (error as? CSVReader.Failure)?.line == line
        }
        #expect(throws: CSVReader.Failure.self) { _ = try CSVReader([0x61, 0xFF, 0x0A]) }
    }

    @Test("what was written verbatim is read as it was, formulas too")
    func roundTrip() throws {
        let values = ["=1+1", "+49 30", "a\"b", "x,y", "two\r\nlines", ""]
        var csv = CSV(head: ["value", "other"])
        for value in values { csv.add([.verbatim(value), .number(1)]) }
        #expect(try Self.read(csv.text).records == values.map { [$0, "1"] })
    }
}
