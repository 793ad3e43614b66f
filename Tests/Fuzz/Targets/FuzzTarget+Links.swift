import OfferCore
import OfferEligibility
import OfferService

extension FuzzTarget {
    /// The reader of links and of the tokens of personal links.
    static let linkText = FuzzTarget("link-text") { input throws(BrokenPromise) in
        let text = String(decoding: input, as: UTF8.self)
        guard let link = LinkText(text) else { return }
        try promise("a link that was read is read as itself", LinkText(link.lastPart) == link)
        switch link {
        case .campaign(let name): try promise("a campaign has a valid name", Campaign.isName(name))
        case .personal(let token):
            guard let key = try? LinkKey(Secret("a throw-away key for fuzzing")),
                let app = try? BundleID(utf8: Array("com.example.app".utf8), field: "bundleID")
            else { throw BrokenPromise(promise: "a key can be made") }
            guard let read = LinkToken(token, in: app, under: key) else { return }
            // The corpus has a token of this key, so that changes to it are tried.
            try promise("a token is written as it was read", (try? read.text(in: app, under: key)) == token)
        }
    }

    /// The reader of lists of customers.
    static let csv = FuzzTarget("csv") { input throws(BrokenPromise) in
        guard var reader = try? CSVReader(input) else { return }
        var copy = CSV()
        copy.add(reader.head.map(CSV.Cell.verbatim))
        var records: [[String]] = []
        while let record = try? reader.next() {
            try promise("a record has a value for each column", record.count == reader.head.count)
            copy.add(record.map(CSV.Cell.verbatim))
            records.append(record)
        }
        // A single empty value is an empty line, which is skipped.
        guard reader.head.count > 1 else { return }
        guard var other = try? CSVReader(Array(copy.text.utf8)) else {
            throw BrokenPromise(promise: "what was read can be written and read")
        }
        var again: [[String]] = []
        while let record = try? other.next() { again.append(record) }
        try promise("what was written is what was read", again == records && other.head == reader.head)
    }
}
