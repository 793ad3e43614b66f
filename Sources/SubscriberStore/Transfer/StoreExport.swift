import NIOConcurrencyHelpers
import OfferCore

/// An export of a store as lines of JSON. The first and last lines show that it is complete.
package struct StoreExport: Sendable {
    private let store: any SubscriberStore

    package init(of store: any SubscriberStore) {
        self.store = store
    }

    /// Exports a consistent snapshot of the whole store.
    /// - Parameter write: called with each line, including its line feed, and with the number of records so far.
    /// - Returns: the number of records.
    package func run(
        _ write: @escaping @Sendable (_ line: [UInt8], _ count: Int) throws(StoreError) -> Void
    ) async throws(StoreError) -> Int {
        let count = NIOLockedValueBox(0)
        try write(Self.line { $0.member("format", StoreImport.format) }, 0)
        try await store.forEachRecord { record throws(StoreError) in
            let number = count.withLockedValue { count in
                count += 1
                return count
            }
            try write(record.line + [UInt8(ascii: "\n")], number)
        }
        let total = count.withLockedValue { $0 }
        try write(Self.line { $0.member("records", Int64(total)) }, total)
        return total
    }

    private static func line(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        members(&writer)
        return writer.finish() + [UInt8(ascii: "\n")]
    }
}
