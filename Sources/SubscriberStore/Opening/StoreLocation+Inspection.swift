import FoundationEssentials
import OfferFiles
import SystemPackage

/// The result of inspecting a database before it is opened.
package enum StoreInspection: Hashable, Sendable {
    /// The database does not exist yet. Opening creates it.
    case absent
    /// The database exists. Opening migrates it to the latest version.
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
    /// - Throws: a ``StoreError`` if opening is certain to fail, for example because the database is damaged, or
    ///   belongs to another program or a later version.
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
            // Opening also creates the folder, if its parent exists.
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
