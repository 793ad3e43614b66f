import FoundationEssentials
import OfferFiles
import SystemPackage

/// The effect of opening a database.
package enum StoreInspection: Hashable, Sendable {
    /// There is none yet. Opening creates it.
    case absent
    /// Opening migrates it to the latest version.
    case exists(version: Int)
}

extension StoreLocation {
    /// The version to which opening migrates a database.
    package var latestVersion: Int {
        switch self {
        case .sqlite: Schema.latestVersion
        case .postgreSQL: PostgreSQLSchema.latestVersion
        }
    }

    /// Inspects the database without creating or changing it.
    /// - Throws: a ``StoreError`` if opening it would foreseeably fail, for example because the database is damaged,
    ///   foreign or of a later program version.
    package func inspect() throws(StoreError) -> StoreInspection {
        switch self {
        case .sqlite(let path): try Self.inspect(path)
        case .postgreSQL(let url): try PostgreSQLInspection.version(url: url).map { .exists(version: $0) } ?? .absent
        }
    }

    private static func inspect(_ path: String) throws(StoreError) -> StoreInspection {
        let files = FileManager.default
        let folder = FilePath(path).folder
        guard files.fileExists(atPath: path) else {
            // The folder is created too, if the one above it exists.
            let parent = files.fileExists(atPath: folder.string) ? folder : folder.folder
            guard files.isWritableFile(atPath: parent.string) else {
                throw StoreError(.readOnly, "the folder \(parent) is missing or cannot be written")
            }
            return .absent
        }
        guard files.isWritableFile(atPath: path), files.isWritableFile(atPath: folder.string) else {
            throw StoreError(.readOnly, "\(path) or its folder cannot be written")
        }
        return .exists(version: try SQLiteInspection.version(path: path))
    }
}
