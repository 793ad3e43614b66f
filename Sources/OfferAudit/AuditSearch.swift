package import OfferCore
import SystemPackage

/// A search of the newest lines of an audit trail, without waiting for the lock.
package enum AuditSearch {
    /// The part of the file that is searched, from its end, in bytes.
    package static let searchedBytes: Int64 = 8 * 1024 * 1024

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
        package let outcome: String
    }

    /// The lines about acts in the console, the newest first.
    package struct Found: Sendable {
        package let lines: [Line]
        /// The time of the oldest line that was searched; nil if the whole file was.
        package let since: Timestamp?
    }

    /// Searches the newest lines of a trail. Rotated files are not searched.
    /// - Parameter path: of a regular file. A pipe cannot be searched.
    /// - Returns: nil if the trail is not a regular file.
    package static func consoleLines(path: String) throws(AuditFault) -> Found? {
        do {
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.nonBlocking, .closeOnExec])
            return try file.closeAfter {
                let stat = try file.stat()
                guard stat.type == .regular else { return nil }
                let size = Int64(stat.size)
                let count = min(size, searchedBytes)
                let bytes = try AuditTail.read(file, from: size - count, count: Int(count))
                let lines = bytes.split(separator: UInt8(ascii: "\n"))
                // The first one may be a part of a line.
                let oldest = count < size ? lines.dropFirst().lazy.compactMap(time).first : nil
                return Found(lines: lines.reversed().compactMap(line), since: oldest)
            }
        } catch { throw AuditFault("\(path) cannot be read (\(error))", isSetup: false) }
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
            outcome: string("outcome") ?? "")
    }

    /// Returns true if the line is about the console. The marker follows the ID of the request near the line's beginning.
    private static func hasMarker(_ text: ArraySlice<UInt8>) -> Bool {
        text.prefix(512).firstRange(of: marker) != nil
    }

    private static let marker = Array(#""caller":"console""#.utf8)
}
