/// A store that implements its operations as SQL statements that several engines understand.
package protocol SQLStore: SubscriberStore {
    /// Reads from a consistent snapshot.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result

    /// Makes a change atomically. It is durable when this returns.
    /// - Parameters:
    ///   - scope: the part of the store that the change needs exclusively.
    ///   - change: may be called more than once, so its only effect must be on the database.
    func write<Result: Sendable>(
        _ scope: ChangeScope, _ change: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result

    /// Makes erased data unreadable in the files, as far as the engine can do that.
    func overwriteErased() async throws(StoreError)
}
