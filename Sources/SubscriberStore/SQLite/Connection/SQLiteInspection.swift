import FoundationEssentials
import OfferSQLite
import SystemPackage

/// The inspection of a database without changing it.
enum SQLiteInspection {
    /// Returns the number of the last migration applied to an existing database.
    static func version(path: String) throws(StoreError) -> Int {
        do {
            // The write-ahead log exists only while a process has the database open. If there is none, even a connection
            // that only reads would create one, unless the file is declared immutable.
            // SQLite follows a link before it names the log.
            let log = URL(filePath: path).resolvingSymlinksInPath().path + "-wal"
            let isInUse = FileManager.default.fileExists(atPath: log)
            let connection =
                try isInUse
                ? SQLiteConnection(path: path, .readOnly)
                : SQLiteConnection(path: URL(filePath: path).absoluteString + "?immutable=1", .immutable)
            try SQLiteSetup.requireOurs(connection)
            return try Schema.version(connection)
        } catch {
            throw StoreError(error, path: FilePath(path))
        }
    }
}
