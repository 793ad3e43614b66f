import FoundationEssentials
import GRDB
import SystemPackage

/// The inspection of a database without changing it.
enum SQLiteInspection {
    /// Returns the number of the last migration applied to an existing database.
    static func version(path: String) throws(StoreError) -> Int {
        do {
            let connection = try DatabaseQueue(path: name(of: path), configuration: configuration)
            let version = try connection.read(Schema.version)
            try connection.close()
            return version
        } catch {
            throw StoreError(error, path: FilePath(path))
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.prepareDatabase(SQLiteConnection.requireOurs)
        return configuration
    }

    /// Returns the name under which a read-only connection opens the database. The write-ahead log exists only while a
    /// process has the database open. If there is none, even a read-only connection would create one, unless the file
    /// is declared immutable.
    private static func name(of path: String) -> String {
        guard !FileManager.default.fileExists(atPath: path + "-wal") else { return path }
        return URL(filePath: path).absoluteString + "?immutable=1"
    }
}
