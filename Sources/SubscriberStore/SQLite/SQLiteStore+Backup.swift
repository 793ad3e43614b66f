import GRDB
import OfferFiles
import SystemPackage

extension SQLiteStore {
    package func backUp(
        to path: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws(StoreError) {
        let path = FilePath(path)
        let temporary = FilePath("\(path).partial")
        do {
            try PrivateFile.requireAbsent(path)
            try PrivateFile.createTemporary(temporary)
            do {
                try await pool.read { try Self.copy($0, to: temporary, progress) }
                try PrivateFile.publish(temporary, as: path)
            } catch {
                try? PrivateFile.remove(temporary)
                throw error
            }
        } catch {
            throw StoreError(error, path: path)
        }
    }

    /// Copies a snapshot, so concurrent changes neither appear in the copy nor restart it.
    private static func copy(
        _ source: GRDB.Database, to path: FilePath, _ progress: @escaping @Sendable (Double) -> Void
    ) throws {
        let copy = try DatabaseQueue(path: path.string)
        try copy.writeWithoutTransaction { target in
            try source.backup(to: target, pagesPerStep: pagesPerStep) { step in
                progress(Double(step.completedPageCount) / Double(max(1, step.totalPageCount)))
            }
            let faults = try faults(target)
            guard faults.isEmpty else { throw StoreError(.corrupt, "\(faults.count) faults in the copy") }
        }
        try copy.close()
    }

    /// The number of pages copied at a time: 4 MiB.
    private static let pagesPerStep: Int32 = 1024
}
