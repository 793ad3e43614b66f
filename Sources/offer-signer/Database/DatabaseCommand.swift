import ArgumentParser

/// `offer-signer database`: commands for the database of subscribers.
struct DatabaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database",
        abstract: "Check, back up, move and repair the database of subscribers.",
        discussion: """
            All of these commands work while the service runs. They read the configuration as 'serve' does; --database names another \
            database. docs/database.md explains what it contains.
            """,
        subcommands: [
            DatabaseMigrateCommand.self, DatabaseCheckCommand.self, DatabaseBackupCommand.self,
            DatabaseExportCommand.self, DatabaseImportCommand.self, DatabaseRebuildCommand.self,
            DatabaseDeadLettersCommand.self,
        ]
    )
}
