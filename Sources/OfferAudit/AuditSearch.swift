package import OfferCore
import SystemPackage

/// A search of the newest lines of an audit trail and of its renamed files, without waiting for the lock.
package enum AuditSearch {
    /// The part of the trail that is searched, from its end, in bytes.
    package static let searchedBytes: Int64 = 32 * 1024 * 1024

    /// The members of a line about an act in the console.
    package struct Line: Sendable {
        package let number: Int64
        package let at: Timestamp
        package let kind: String
        package let person: String
        /// The person's identifier at the identity provider; nil for a person who signed in with a link.
        package let subject: String?
        package let bundleID: String?
        package let environment: String?
        /// The code that stands for the customer or for the text of a search; nil if there is none.
        package let customer: String?
        package let alarm: Int64?
        /// The name of the person whom the act is about.
        package let about: String?
        package let outcome: String
    }

    /// The lines about acts in the console, the newest first.
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
            let bytes = try AuditTail.read(file, from: size - count, count: Int(count))
            let lines = bytes.split(separator: UInt8(ascii: "\n"))
            // The first one may be a part of a line.
            let oldest = count < size ? lines.dropFirst().lazy.compactMap(time).first : nil
            return Found(lines: lines.reversed().compactMap(line), since: oldest)
        }
    }

    private static func time(of text: ArraySlice<UInt8>) -> Timestamp? {
        guard case .object(let members)? = try? JSONReader.read(Array(text)), case .string(let utf8)? = members["time"]
        else { return nil }
        return Timestamp(dateOrTime: String(decoding: utf8, as: UTF8.self))
    }

    private static func line(_ text: ArraySlice<UInt8>) -> Line? {
        // Most lines are about signatures. Parsing them would take most of the time.
        guard hasMarker(text), case .object(let members)? = try? JSONReader.read(Array(text)) else {
            return nil
        }
        func string(_ name: String) -> String? {
            if case .string(let utf8)? = members[name] { String(decoding: utf8, as: UTF8.self) } else { nil }
        }
        func integer(_ name: String) -> Int64? {
            if case .number(let digits)? = members[name] { Int64(String(decoding: digits, as: UTF8.self)) } else { nil }
        }
        guard let number = integer("line"), let at = string("time").flatMap(Timestamp.init(dateOrTime:)),
            let kind = string("kind"),
            let person = string("person")
        else { return nil }
        return Line(
            number: number, at: at, kind: kind, person: person, subject: string("subject"),
            bundleID: string("bundleID"),
            environment: string("environment"), customer: string("customer"), alarm: integer("alarm"),
            about: string("about"),
            outcome: string("outcome") ?? "")
    }

    /// Returns true if the line is about the console. The marker follows the ID of the request near the line's beginning.
    private static func hasMarker(_ text: ArraySlice<UInt8>) -> Bool {
        text.prefix(512).firstRange(of: marker) != nil
    }

    private static let marker = Array(#""caller":"console""#.utf8)
}
