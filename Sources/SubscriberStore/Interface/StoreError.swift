package import OfferCore

/// The reason why a store operation failed. The operation was not acknowledged.
package struct StoreError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Another process has locked the database, a statement or lock took too long, or too many requests are waiting.
        case busy
        case diskFull
        case readOnly
        /// The database cannot be opened, or its disk or server failed.
        case unreachable
        /// The database is damaged.
        case corrupt
        /// A row contains a value that no version of the program writes. Other rows can be read.
        case unreadable
        /// A later version of the program migrated the database.
        case newerVersion(found: Int, supported: Int)
        /// The database must first be migrated to the version of this program.
        case olderVersion(found: Int, needed: Int)
        /// The file to create already exists.
        case exists
        /// The file is not a database of this program.
        case foreign
        /// The engine does not support this operation, but other tools do.
        case notSupported(instead: String)
        /// A bug in this program.
        case fault
    }

    package let kind: Kind
    /// The database's message. It contains no stored value.
    package let detail: String

    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    /// True if the same call can succeed later without a repair of the database.
    package var isRetryable: Bool {
        switch kind {
        case .busy, .diskFull, .readOnly, .unreachable: true
        case .corrupt, .unreadable, .newerVersion, .olderVersion, .exists, .foreign, .notSupported, .fault: false
        }
    }

    /// True if the database stays broken until someone repairs it. A refused statement does not count, because other
    /// statements may succeed.
    package var isLasting: Bool {
        switch kind {
        case .corrupt, .newerVersion, .olderVersion, .foreign: true
        case .busy, .diskFull, .readOnly, .unreachable, .unreadable, .exists, .notSupported, .fault: false
        }
    }
}

extension StoreError {
    /// The error in the form shown to operators.
    package var diagnostic: Diagnostic { Diagnostic("the database \(problem) (\(detail))", hint: hint) }

    private var problem: String {
        switch kind {
        case .busy: "is busy"
        case .diskFull: "cannot grow, because its disk is full"
        case .readOnly: "cannot be written"
        case .unreachable: "cannot be reached"
        case .corrupt: "is damaged"
        case .unreadable: "contains a value that cannot be read"
        case .newerVersion(let found, let supported):
            "has version \(found), and this program supports versions up to \(supported)"
        case .olderVersion(let found, let needed): "has version \(found), and this program uses version \(needed)"
        case .exists: "cannot be copied to an existing file"
        case .foreign: "belongs to another program"
        case .notSupported: "cannot be copied by this program"
        case .fault: "refused a statement"
        }
    }

    private var hint: String {
        switch kind {
        case .busy: "the service tries again by itself; if it lasts, find what locks the database or keeps it busy"
        case .diskFull: "free some space; the service tries again by itself"
        case .readOnly: "let the service's account write to the file and its folder"
        case .unreachable: "check the path, the permissions and the disk; the service tries again by itself"
        case .corrupt: "restore a backup, or run offer-signer database check"
        case .unreadable:
            "run offer-signer database check to find the row; until it is repaired, its customer is refused as unknown, and all others are served"
        case .newerVersion: "start the newer version of the program, or restore a backup from before the upgrade"
        case .olderVersion:
            "make a backup, then run offer-signer database migrate; the service does the same when it starts"
        case .exists: "name a file that does not exist yet"
        case .foreign: "set SUBSCRIPTION_OFFERS_DATABASE to another file"
        case .notSupported(let instead): "use \(instead)"
        case .fault: "report this as a bug"
        }
    }
}
