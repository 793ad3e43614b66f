package import OfferCore
package import SubscriberStore

extension CurrentStore: ReportStore {
    package func keptReports() async throws(StoreError) -> [KeptReport] {
        try await read { store throws(StoreError) in try await store.keptReports() }
    }

    package func result(of subject: ReportSubject) async throws(StoreError) -> [UInt8]? {
        try await read { store throws(StoreError) in try await store.result(of: subject) }
    }

    package func requestReport(_ subject: ReportSubject, at now: Timestamp) async throws(StoreError) -> Bool {
        try await write { store throws(StoreError) in try await store.requestReport(subject, at: now) }
    }

    package func noteProgress(of subject: ReportSubject, customersRead: Int) async throws(StoreError) {
        try await write { store throws(StoreError) in
            try await store.noteProgress(of: subject, customersRead: customersRead)
        }
    }

    package func settleReport(
        _ subject: ReportSubject, result: [UInt8]?, at now: Timestamp
    ) async throws(StoreError) {
        try await write { store throws(StoreError) in
            try await store.settleReport(subject, result: result, at: now)
        }
    }
}
