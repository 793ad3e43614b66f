import OfferCore
import SystemPackage

/// A search of the newest lines of an audit trail, without waiting for the lock.
package enum AuditSearch {
    /// The part of the file that is searched, from its end, in bytes.
    package static let searchedBytes: Int64 = 8 * 1024 * 1024

    /// The members of a line about an act in the console.
    package struct Line: Sendable {
        package let number: Int64
        package let time: String
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

    /// Returns the lines about acts in the console, the newest first.
    /// - Parameter path: of a regular file. A pipe cannot be searched.
    /// - Returns: nil if the trail is not a regular file.
    package static func consoleLines(path: String) throws(AuditFault) -> [Line]? {
        do {
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.nonBlocking, .closeOnExec])
            return try file.closeAfter {
                let stat = try file.stat()
                guard stat.type == .regular else { return nil }
                let size = Int64(stat.size)
                let count = min(size, searchedBytes)
                let bytes = try AuditTail.read(file, from: size - count, count: Int(count))
                return bytes.split(separator: UInt8(ascii: "\n")).reversed().compactMap(line)
            }
        } catch { throw AuditFault("\(path) cannot be read (\(error))", isSetup: false) }
    }

    private static func line(_ text: ArraySlice<UInt8>) -> Line? {
        // Most lines are about signatures. Parsing them would take most of the time.
        guard text.firstRange(of: marker) != nil, case .object(let members)? = try? JSONReader.read(Array(text)) else {
            return nil
        }
        func string(_ name: String) -> String? {
            if case .string(let utf8)? = members[name] { String(decoding: utf8, as: UTF8.self) } else { nil }
        }
        func integer(_ name: String) -> Int64? {
            if case .number(let digits)? = members[name] { Int64(String(decoding: digits, as: UTF8.self)) } else { nil }
        }
        guard let number = integer("line"), let time = string("time"), let kind = string("kind"),
            let person = string("person")
        else { return nil }
        return Line(
            number: number, time: time, kind: kind, person: person, subject: string("subject"),
            bundleID: string("bundleID"),
            environment: string("environment"), customer: string("customer"), alarm: integer("alarm"),
            outcome: string("outcome") ?? "")
    }

    private static let marker = Array(#""caller":"console""#.utf8)
}
