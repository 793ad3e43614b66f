package import OfferCore
import SystemPackage

/// A search of the newest lines of an audit trail and of its renamed files, without waiting for the lock.
package enum AuditSearch {
    /// The part of the trail that is searched, from its end, in bytes.
    package static let searchedBytes: Int64 = 32 * 1024 * 1024

    /// The members of a line about an act in the console, or about a grant by a caller of the API.
    package struct Line: Sendable {
        package let number: Int64
        package let at: Timestamp
        package let kind: String
        /// The person, or the caller of the API.
        package let person: String
        /// False for an act of a caller of the API.
        package let isConsole: Bool
        /// The person's identifier at the identity provider; nil for a person who signed in with a link.
        package let subject: String?
        package let bundleID: String?
        package let environment: String?
        package let productID: String?
        package let offerID: String?
        /// nil unless the line is about a grant.
        package let grant: Grant?
        /// The code that stands for the customer or for the text of a search; nil if there is none.
        package let customer: String?
        package let alarm: Int64?
        /// The name of the person whom the act is about.
        package let about: String?
        package let outcome: String

        package struct Grant: Sendable {
            package let id: String
            package let reason: String
            /// The person or the caller who made the grant.
            package let maker: String
        }
    }

    /// The lines about acts in the console and about grants, the newest first.
    package struct Found: Sendable {
        package let lines: [Line]
        /// The time of the oldest line that was searched; nil if the whole trail was.
        package let since: Timestamp?
    }

    /// Searches the newest lines of a trail. Compressed files are not searched.
    /// - Parameters:
    ///   - path: of a regular file. A pipe cannot be searched.
    ///   - maximum: the part of the trail that is searched, in bytes.
    /// - Returns: nil if the trail is not a regular file.
    package static func consoleLines(
        path: String, maximum: Int64 = searchedBytes
    ) throws(AuditFault) -> Found? {
        var (lines, rest) = ([Line](), maximum)
        do {
            guard let current = try newestLines(FilePath(path), &rest) else { return nil }
            lines = current.lines
            var since = current.since
            for path in RotatedTrails(of: FilePath(path)).paths where since == nil && RotatedTrail(path) != nil {
                guard let older = try newestLines(path, &rest) else { continue }
                // The current file may have been renamed a moment ago.
                let oldest = lines.last?.number ?? .max
                lines += older.lines.filter { $0.number < oldest }
                since = older.since
            }
            return Found(lines: lines, since: since)
        } catch { throw AuditFault("\(path) cannot be read (\(error))", isSetup: false) }
    }

    /// Searches the end of a file, which may have been renamed or removed.
    /// - Parameter rest: the number of bytes that may still be read.
    /// - Returns: nil unless the file is regular.
    private static func newestLines(_ path: FilePath, _ rest: inout Int64) throws -> Found? {
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec])
        } catch Errno.noSuchFileOrDirectory { return Found(lines: [], since: nil) }
        return try file.closeAfter {
            let stat = try file.stat()
            guard stat.type == .regular else { return nil }
            let size = Int64(stat.size)
            // Enough for at least one line of a further file, whose time is needed.
            let count = min(size, max(rest, 64 * 1024))
            rest -= count
            let found = try consoleLines(of: file, from: size - count, to: size)
            // The first line may be a part of one.
            return Found(lines: found.lines.reversed(), since: count < size ? found.oldest : nil)
        }
    }

    /// Reads the complete lines between two offsets.
    /// - Returns: those about acts in the console and about grants, and the time of the second line.
    private static func consoleLines(
        of file: FileDescriptor, from begin: Int64, to end: Int64
    ) throws -> (lines: [Line], oldest: Timestamp?) {
        var (offset, rest, lines, oldest) = (begin, [UInt8](), [Line](), Timestamp?.none)
        while offset < end {
            let chunk = try AuditTail.read(file, from: offset, count: Int(min(end - offset, chunkSize)))
            guard !chunk.isEmpty else { break }
            if offset == begin { oldest = secondTime(in: chunk) }
            offset += Int64(chunk.count)
            let bytes = rest + chunk
            let complete = bytes.lastIndex(of: lineFeed).map { $0 + 1 } ?? 0
            let found = markers.flatMap { linesFound(by: $0, in: bytes[..<complete]) }
            lines += found.sorted { $0.offset < $1.offset }.map(\.line)
            rest = Array(bytes[complete...])
            guard rest.count <= AuditTail.maximumSize else { break }
        }
        return (lines, oldest)
    }

    private static let chunkSize: Int64 = 1024 * 1024
    private static let lineFeed = UInt8(ascii: "\n")

    /// Returns the complete lines with a marker, and their offsets.
    private static func linesFound(by marker: Marker, in bytes: ArraySlice<UInt8>) -> [(offset: Int, line: Line)] {
        var (lines, place) = ([(offset: Int, line: Line)](), bytes.startIndex)
        while let hit = marker.firstOffset(in: bytes[place...]) {
            let first = bytes[place..<hit].lastIndex(of: lineFeed).map { $0 + 1 } ?? place
            let last = bytes[hit...].firstIndex(of: lineFeed) ?? bytes.endIndex - 1
            // The marker follows the ID of the request near the beginning of the line.
            if hit - first < 512, let line = line(bytes[first..<last]), line.isConsole == marker.isOfConsole {
                lines.append((first, line))
            }
            place = last + 1
        }
        return lines
    }

    /// A text that only some lines contain.
    private struct Marker {
        let isOfConsole: Bool
        private let text: [UInt8]
        /// The number of bytes to skip, for each value of the byte at the marker's last position.
        private let steps: [Int]

        init(_ text: String, isOfConsole: Bool) {
            self.isOfConsole = isOfConsole
            self.text = Array(text.utf8)
            var steps = [Int](repeating: self.text.count, count: 256)
            for (place, byte) in self.text.dropLast().enumerated() { steps[Int(byte)] = self.text.count - 1 - place }
            self.steps = steps
        }

        /// Returns the offset of the marker, as Horspool finds it: most lines are about signatures, and the search looks at
        /// every fifteenth of their bytes.
        func firstOffset(in bytes: ArraySlice<UInt8>) -> Int? {
            var last = bytes.startIndex + text.count - 1
            while last < bytes.endIndex {
                let byte = bytes[last]
                if byte == text[text.count - 1], bytes[(last + 1 - text.count)...last].elementsEqual(text) {
                    return last + 1 - text.count
                }
                last += steps[Int(byte)]
            }
            return nil
        }
    }

    /// Returns the time of the first line after a line feed.
    private static func secondTime(in bytes: [UInt8]) -> Timestamp? {
        var rest = bytes[...]
        while let feed = rest.firstIndex(of: lineFeed) {
            rest = rest[(feed + 1)...]
            guard let end = rest.firstIndex(of: lineFeed) else { return nil }
            if let time = time(of: rest[..<end]) { return time }
        }
        return nil
    }

    private static func time(of text: ArraySlice<UInt8>) -> Timestamp? {
        guard case .object(let members)? = try? JSONReader.read(Array(text)), case .string(let utf8)? = members["time"]
        else { return nil }
        return Timestamp(dateOrTime: String(decoding: utf8, as: UTF8.self))
    }

    private static func line(_ text: ArraySlice<UInt8>) -> Line? {
        guard case .object(let members)? = try? JSONReader.read(Array(text)) else {
            return nil
        }
        func string(_ name: String) -> String? {
            if case .string(let utf8)? = members[name] { String(decoding: utf8, as: UTF8.self) } else { nil }
        }
        func integer(_ name: String) -> Int64? {
            if case .number(let digits)? = members[name] { Int64(String(decoding: digits, as: UTF8.self)) } else { nil }
        }
        guard let number = integer("line"), let at = string("time").flatMap(Timestamp.init(dateOrTime:)),
            let kind = string("kind")
        else { return nil }
        let isConsole = ConsoleAct.Kind(rawValue: kind) != nil
        guard isConsole || kind.hasPrefix(grantKind), let person = string(isConsole ? "person" : "caller") else {
            return nil
        }
        let grant = string("grant").map { id in
            let (name, subject) = (string("madeBy") ?? "", string("madeBySubject"))
            return Line.Grant(
                id: id, reason: string("reason") ?? "", maker: subject.map { "\(name) (\($0))" } ?? name)
        }
        return Line(
            number: number, at: at, kind: kind, person: person, isConsole: isConsole,
            subject: string("subject"), bundleID: string("bundleID"), environment: string("environment"),
            productID: string("productID"), offerID: string("offerID"), grant: grant, customer: string("customer"),
            alarm: integer("alarm"), about: string("about"), outcome: string("outcome") ?? "")
    }

    /// The beginning of the kinds of acts on grants by callers of the API.
    private static let grantKind = CustomerChange.Kind.grant.rawValue

    private static let markers = [
        Marker(#""caller":"console""#, isOfConsole: true), Marker(#""kind":"\#(grantKind)"#, isOfConsole: false),
    ]
}
