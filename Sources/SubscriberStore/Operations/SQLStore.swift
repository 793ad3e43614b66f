/// A store whose operations are statements that several engines understand. An engine runs them.
package protocol SQLStore: SubscriberStore {
    /// Reads as of one moment.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result

    /// Makes a change, all or nothing. It is durable when this returns.
    /// - Parameters:
    ///   - scope: what the change must have to itself.
    ///   - change: it may be called more than once, so it must have no effect but on the database.
    func write<Result: Sendable>(
        _ scope: ChangeScope, _ change: @escaping @Sendable (any Database) throws -> Result
    ) async throws(StoreError) -> Result

    /// Leaves nothing readable in the files of what an erasure has deleted, as far as the engine can do that.
    func overwriteErased() async throws(StoreError)
}
