import OfferCore

/// An import of the output of ``StoreExport``. It can be repeated without harm, even after an interruption.
package struct StoreImport: Sendable {
    /// The version of the format.
    static let format: Int64 = 1
    /// The number of records in a transaction.
    private static let batchSize = 500
    /// The maximum number of elements in a list. A legacy receipt can name many subscriptions.
    private static let maximumElements = 10_000

    private let store: any SubscriberStore

    package init(into store: any SubscriberStore) {
        self.store = store
    }

    /// Adds the records of an export.
    /// - Parameters:
    ///   - nextLine: returns the next line without its line feed; nil at the end.
    ///   - progress: called with the number of stored records.
    /// - Returns: the number of records.
    /// - Throws: a ``TransferError`` or a ``StoreError``.
    package func run(nextLine: () throws -> [UInt8]?, progress: (Int) -> Void) async throws -> Int {
        guard let first = try nextLine(), try Self.reader(first).optionalNumber("format") == Self.format else {
            throw TransferError("the first line does not say \"format\":\(Self.format)")
        }
        var batch: [StoreRecord] = []
        var count = 0
        do {
            while let line = try nextLine() {
                let reader = try Self.reader(line)
                if let total = try reader.optionalNumber("records") {
                    guard total == count else {
                        throw TransferError("the export has \(count) instead of \(total) records")
                    }
                    try await store.add(batch)
                    progress(count)
                    return count
                }
                batch.append(try Self.record(reader))
                count += 1
                guard batch.count == Self.batchSize else { continue }
                try await store.add(batch)
                batch = []
                progress(count)
            }
            throw TransferError("the export is cut off after \(count) records")
        } catch let error where !(error is StoreError) {
            // The records before the damage in an export are worth keeping.
            try await store.add(batch)
            throw error
        }
    }

    private static func reader(_ line: [UInt8]) throws(TransferError) -> RecordReader {
        guard let value = try? JSONReader.read(line, maximumCount: maximumElements), case .object(let object) = value
        else { throw TransferError("a line is not a JSON object") }
        return RecordReader(object: object)
    }

    private static func record(_ reader: RecordReader) throws(TransferError) -> StoreRecord {
        guard let name = StoreRecord.Name(rawValue: try reader.text("record")) else {
            throw TransferError("a record has an unknown kind")
        }
        return try StoreRecord(reader, name: name)
    }
}
