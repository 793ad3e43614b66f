/// A strict reader of forms with files: `multipart/form-data` (RFC 7578), as browsers write it (WHATWG, "HTML", section
/// 4.10.22.7).
///
/// Each part has one line `Content-Disposition: form-data; name="…"`, for a file with a `filename`, and at most one line
/// `Content-Type`. Values are read as ``FormReader`` reads them, files too: they are UTF-8 without control characters.
/// Browsers send an empty file if none is chosen.
package enum MultipartReader {
    /// The maximum size of the lines before a value, in bytes.
    private static let maximumHead = 1024
    private static let lineEnd: [UInt8] = [0x0D, 0x0A]
    private static let hyphens = Array("--".utf8)

    /// Returns the boundary that a `Content-Type` names; nil for another type.
    package static func boundary(in contentType: String) -> [UInt8]? {
        let prefix = "multipart/form-data; boundary="
        guard contentType.lowercased().hasPrefix(prefix) else { return nil }
        let boundary = Array(contentType.utf8.dropFirst(prefix.utf8.count))
        guard (1...70).contains(boundary.count), boundary.allSatisfy(isBoundaryCharacter) else { return nil }
        return boundary
    }

    /// - Parameters:
    ///   - body: its size is limited by the caller.
    ///   - fields: the fields that the form has. A missing one is not an error.
    package static func read(
        _ body: [UInt8], boundary: [UInt8], fields: [FormReader.Field]
    ) throws(FormReader.Fault) -> FormValues {
        let delimiter = hyphens + boundary
        var rest = body[...]
        guard rest.take(delimiter) else { throw .notParts }
        var values: [FormValues.Item] = []
        while !rest.take(hyphens + lineEnd) {
            guard values.count < fields.count else { throw .tooManyFields }
            guard rest.take(lineEnd), let name = head(of: &rest),
                let end = place(of: lineEnd + delimiter, in: rest)
            else { throw .notParts }
            guard let field = fields.first(where: { $0.name == name }) else {
                throw .unknownField(UserText.short(name, bytes: 64))
            }
            guard !values.contains(where: { $0.name == name }) else { throw .repeatedField(name) }
            let utf8 = rest[..<end]
            guard utf8.count <= field.maximumBytes else { throw .tooLong(field: name) }
            guard let value = FormReader.plain(Array(utf8)) else { throw .badText(field: name) }
            values.append(FormValues.Item(name: name, value: value))
            rest = rest[(end + lineEnd.count + delimiter.count)...]
        }
        guard rest.isEmpty else { throw .notParts }
        return FormValues(values)
    }

    /// Takes the lines before a value and the empty line after them.
    /// - Returns: the name of the field.
    private static func head(of rest: inout ArraySlice<UInt8>) -> String? {
        guard let end = place(of: lineEnd + lineEnd, in: rest.prefix(maximumHead)),
            let lines = FormReader.plain(Array(rest[..<end]))?.split(separator: "\n", omittingEmptySubsequences: false),
            let first = lines.first, lines.count <= 2
        else { return nil }
        let prefix = "Content-Disposition: form-data; name=\""
        guard first.hasPrefix(prefix), lines.dropFirst().allSatisfy({ $0.hasPrefix("Content-Type: ") }) else {
            return nil
        }
        // Browsers write a quotation mark in a name as %22.
        let parts = first.dropFirst(prefix.count).split(separator: "\"", omittingEmptySubsequences: false)
        guard parts.count == 2 && parts[1].isEmpty || parts.count == 4 && parts[1] == "; filename=" && parts[3].isEmpty
        else { return nil }
        rest = rest[(end + 2 * lineEnd.count)...]
        return String(parts[0])
    }

    private static func place(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        var start = bytes.startIndex
        while let place = bytes[start...].firstIndex(of: pattern[0]) {
            if bytes[place...].starts(with: pattern) { return place }
            start = place + 1
        }
        return nil
    }

    /// RFC 2046 section 5.1.1 allows more, but these need no quotation marks in the header.
    private static func isBoundaryCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "'"), UInt8(ascii: "+"):
            true
        default: false
        }
    }
}

extension ArraySlice<UInt8> {
    /// Removes the bytes from the beginning.
    /// - Returns: false if the slice begins otherwise.
    fileprivate mutating func take(_ bytes: [UInt8]) -> Bool {
        guard starts(with: bytes) else { return false }
        self = dropFirst(bytes.count)
        return true
    }
}
