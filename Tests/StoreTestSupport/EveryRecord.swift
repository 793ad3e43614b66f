import NIOConcurrencyHelpers
package import SubscriberStore

extension SubscriberStore {
    /// Everything stored, in the order of an export.
    package func everyRecord() async throws -> [StoreRecord] {
        let records = NIOLockedValueBox<[StoreRecord]>([])
        try await forEachRecord { record throws(StoreError) in records.withLockedValue { $0.append(record) } }
        return records.withLockedValue { $0 }
    }
}
