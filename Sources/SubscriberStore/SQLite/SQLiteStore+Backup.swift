import OfferFiles
import OfferSQLite
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
                try await readConnection { try Self.copy($0, to: temporary, progress) }
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
        _ source: SQLiteConnection, to path: FilePath, _ progress: @escaping @Sendable (Double) -> Void
    ) throws {
        // The snapshot is that of the first read.
        _ = try Schema.version(source)
        let copy = try SQLiteConnection(path: path.string)
        try source.copy(to: copy, pagesPerStep: pagesPerStep, progress)
        let faults = try faults(copy)
        guard faults.isEmpty else { throw StoreError(.corrupt, "\(faults.count) faults in the copy") }
        copy.close()
    }

    /// The number of pages copied at a time: 4 MiB.
    private static let pagesPerStep: Int32 = 1024
}
