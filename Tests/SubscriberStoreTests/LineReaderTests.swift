import OfferFiles
import TestSupport
import Testing

@Suite("Lines of a file")
struct LineReaderTests {
    @Test("lines are read one by one, whatever their size, with or without a last line feed")
    func lines() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 300_000)
        let expected = [Array("a".utf8), [], long, Array("b".utf8)]
        for end in [[], Array("\n".utf8)] {
            let folder = try TemporaryFolder()
            try folder.write(expected.joined(separator: [UInt8(ascii: "\n")]) + end, to: "lines")
            let reader = try LineReader(path: folder.path + "/lines", maximumSize: 300_000)
            var lines: [[UInt8]] = []
            while let line = try reader.next() { lines.append(line) }
            #expect(lines == expected)
            #expect(try reader.next() == nil)
        }
    }

    @Test("a line that is too long is refused, and so is a file that does not exist")
    func refused() throws {
        let folder = try TemporaryFolder()
        try folder.write([UInt8](repeating: 1, count: 600_000), to: "lines")
        let reader = try LineReader(path: folder.path + "/lines", maximumSize: 300_000)
        #expect(throws: LineFileError.self) { try reader.next() }
        #expect(throws: LineFileError.self) { _ = try LineReader(path: folder.path + "/none", maximumSize: 9) }
    }
}
