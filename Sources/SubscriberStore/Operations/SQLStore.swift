/// A store whose operations are SQL statements for several engines.
package protocol SQLStore: SubscriberStore {
    /// Reads from a consistent snapshot.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result

    /// Makes a change atomically. The change is durable when this function returns.
    /// - Parameters:
    ///   - scope: the part of the store that the change needs exclusively.
    ///   - change: may be called more than once, so it must affect only the database.
    func write<Result: Sendable>(
        _ scope: ChangeScope, _ change: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result

    /// Makes erased data unreadable in the files, as far as the engine supports that.
    func overwriteErased() async throws(StoreError)
}
