/// A store whose operations are statements that several engines understand. An engine runs them.
package protocol SQLStore: SubscriberStore {
    /// Reads as of one moment.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result

    /// Makes a change, all or nothing. It is durable when this returns.
    /// - Parameters:
    ///   - scope: the part of the store that the change needs exclusively.
    ///   - change: may be called more than once, so its only effect must be on the database.
    func write<Result: Sendable>(
        _ scope: ChangeScope, _ change: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result

    /// Leaves no erased data readable in the files, as far as the engine can do that.
    func overwriteErased() async throws(StoreError)
}
