/// Reads Apple's Subscription Event report: tab-separated values in UTF-8, with a head. It is strict, because a line that is
/// misread would look like a difference.
package struct AppleEventReader: Sendable {
    package struct Failure: Error, Hashable, Sendable {
        /// The number of the line, from 1.
        package let line: Int
        package let text: String
    }

    private struct Columns {
        let count: Int
        let date: Int
        let event: Int
        let app: Int
        let quantity: Int
        /// nil if the report has no such column.
        let reason: Int?
    }

    private let appAppleID: Int64
    private var columns: Columns?
    package private(set) var events = AppleEvents()

    /// The largest quantity of a line.
    private static let maximumQuantity = 1_000_000_000

    /// - Parameter appAppleID: the app whose events are read.
    package init(appAppleID: Int64) { self.appAppleID = appAppleID }

    /// Begins with another file.
    package mutating func beginFile() { columns = nil }

    /// Reads a line.
    /// - Parameters:
    ///   - line: the line without its line feed.
    ///   - number: the number of the line in its file, from 1.
    package mutating func read(_ line: ArraySlice<UInt8>, number: Int) throws(Failure) {
        guard let columns else {
            guard !line.starts(with: [0x1F, 0x8B]) else {
                throw Failure(line: number, text: "the file is compressed; unpack it with gunzip")
            }
            columns = try Self.columns(Self.cells(line, number), number)
            return
        }
        let cells = try Self.cells(line, number)
        // The last line may end with a line feed.
        guard cells != [""] else { return }
        guard cells.count == columns.count else {
            throw Failure(line: number, text: "the line has \(cells.count) columns, and the head has \(columns.count)")
        }
        guard let day = CivilDay(text: cells[columns.date]) else {
            throw Failure(line: number, text: "Event Date is not a date such as 2026-11-20")
        }
        guard let app = Self.whole(cells[columns.app]) else {
            throw Failure(line: number, text: "App Apple ID is not a whole number")
        }
        guard let quantity = Self.whole(cells[columns.quantity]), quantity <= Self.maximumQuantity else {
            throw Failure(line: number, text: "Quantity is not a whole number up to \(Self.maximumQuantity)")
        }
        let event = cells[columns.event]
        guard !event.isEmpty else { throw Failure(line: number, text: "Event is empty") }
        guard app == appAppleID else {
            events.otherApps += 1
            return
        }
        events.add(event, reason: columns.reason.map { cells[$0] } ?? "", Int(quantity), on: day)
    }

    private static func columns(_ head: [String], _ number: Int) throws(Failure) -> Columns {
        func place(_ name: String) throws(Failure) -> Int {
            let places = head.indices.filter { head[$0] == name }
            guard places.count < 2 else { throw Failure(line: number, text: "two columns are named \(name)") }
            guard let place = places.first else {
                throw Failure(
                    line: number, text: "no column is named \(name); the file is no Subscription Event report")
            }
            return place
        }
        return Columns(
            count: head.count, date: try place("Event Date"), event: try place("Event"), app: try place("App Apple ID"),
            quantity: try place("Quantity"), reason: head.firstIndex(of: "Cancellation Reason"))
    }

    private static func cells(_ line: ArraySlice<UInt8>, _ number: Int) throws(Failure) -> [String] {
        var line = line
        if number == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw Failure(line: number, text: "the text is not UTF-8")
        }
        return text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }

    /// - Returns: nil for any text but digits.
    private static func whole(_ text: String) -> Int64? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(text) : nil
    }
}

/// The events of Apple's report, by day.
package struct AppleEvents: Sendable, Equatable {
    private(set) var days: [CivilDay: [ComparedEvent: Int]] = [:]
    /// The numbers of the events that are not compared, by name.
    package private(set) var others: [String: Int] = [:]
    /// The number of lines about other apps.
    package internal(set) var otherApps = 0

    mutating func add(_ event: String, reason: String, _ quantity: Int, on day: CivilDay) {
        // A day with other events only is compared too.
        var counts = days[day] ?? [:]
        if let compared = ComparedEvent(apple: event, reason: reason) {
            counts[compared, default: 0] += quantity
        } else {
            others[event, default: 0] += quantity
        }
        days[day] = counts
    }
}
