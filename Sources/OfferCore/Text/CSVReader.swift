/// Reads comma-separated values (RFC 4180) in UTF-8, with a head. Spreadsheets of some countries write semicolons instead of
/// commas; the head shows which it is. Lines may end with a line feed alone, and empty lines are skipped.
package struct CSVReader: Sendable {
    package struct Failure: Error, Hashable, Sendable {
        /// The number of the line on which the record begins, from 1.
        package let line: Int
        package let text: String
    }

    /// The names of the columns.
    package private(set) var head: [String] = []
    /// The number of the line on which the last record began, from 1.
    package private(set) var line = 1
    private let bytes: [UInt8]
    private let separator: UInt8
    private var place: Int
    private var nextLine = 1

    private static let (quote, lineFeed, carriageReturn): (UInt8, UInt8, UInt8) = (0x22, 0x0A, 0x0D)

    /// Reads the head.
    package init(_ bytes: [UInt8]) throws(Failure) {
        self.bytes = bytes
        place = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        separator = Self.separator(in: bytes[place...])
        head = try record() ?? []
        guard head != [""], !head.isEmpty else {
            throw Failure(line: 1, text: "there is no head that names the columns")
        }
        guard Set(head).count == head.count else { throw Failure(line: 1, text: "two columns have the same name") }
    }

    /// Returns the separator of the head: a semicolon if there is one and no comma, outside of quotation marks.
    private static func separator(in text: ArraySlice<UInt8>) -> UInt8 {
        let (comma, semicolon) = (UInt8(ascii: ","), UInt8(ascii: ";"))
        var (isQuoted, hasSemicolon) = (false, false)
        for byte in text {
            if byte == quote { isQuoted.toggle() }
            if isQuoted { continue }
            if byte == comma { return comma }
            if byte == semicolon { hasSemicolon = true }
            if byte == lineFeed { break }
        }
        return hasSemicolon ? semicolon : comma
    }

    /// Returns the next record, with a value for each column; nil after the last one.
    package mutating func next() throws(Failure) -> [String]? {
        while let record = try record() {
            if record == [""] { continue }
            guard record.count == head.count else {
                throw Failure(
                    line: line, text: "the line has \(record.count) columns, and the head has \(head.count)")
            }
            return record
        }
        return nil
    }

    private mutating func record() throws(Failure) -> [String]? {
        guard place < bytes.count else { return nil }
        line = nextLine
        var fields: [String] = []
        while true {
            fields.append(try field())
            guard place < bytes.count else { return fields }
            let byte = bytes[place]
            place += 1
            if byte == separator { continue }
            if byte == Self.carriageReturn, place < bytes.count, bytes[place] == Self.lineFeed { place += 1 }
            nextLine += 1
            return fields
        }
    }

    /// Reads a field up to its separator, the end of its line or the end of the text.
    private mutating func field() throws(Failure) -> String {
        var value: [UInt8] = []
        if place < bytes.count, bytes[place] == Self.quote {
            place += 1
            while true {
                guard place < bytes.count else { throw Failure(line: line, text: "a quotation mark is not closed") }
                let byte = bytes[place]
                place += 1
                if byte == Self.quote {
                    guard place < bytes.count, bytes[place] == Self.quote else { break }
                    place += 1
                }
                if byte == Self.lineFeed { nextLine += 1 }
                value.append(byte)
            }
            guard place == bytes.count || isEnd(bytes[place]) else {
                throw Failure(line: line, text: "text follows a closing quotation mark")
            }
        } else {
            let start = place
            while place < bytes.count, !isEnd(bytes[place]) { place += 1 }
            value = Array(bytes[start..<place])
            guard !value.contains(Self.quote) else {
                throw Failure(line: line, text: "a quotation mark is inside a value without quotation marks")
            }
        }
        guard let text = String(validating: value, as: UTF8.self) else {
            throw Failure(line: line, text: "the text is not UTF-8")
        }
        return text
    }

    private func isEnd(_ byte: UInt8) -> Bool {
        byte == separator || byte == Self.lineFeed || byte == Self.carriageReturn
    }
}
