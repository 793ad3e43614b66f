import OfferPostgreSQL
import StoreTestSupport
import Testing

/// What a connection does with statements that travel together.
@Suite("Statements that travel together", .serialized, .timeLimit(.minutes(30)))
struct PostgreSQLPipelineTests {
    private let connection: PostgreSQLConnection

    init() throws { connection = try PostgreSQLDatabaseOfTest().connect() }

    @Test(
        "results come in the order of the questions, in one round trip, also where neither side can send it all at once"
    )
    func order() throws {
        let (before, text) = (connection.roundTrips, String(repeating: "x", count: 10_000))
        let sql = "SELECT CAST($1 AS bigint) AS number, CAST($2 AS text) AS text"
        let results = try connection.execute((0..<500).map { (sql, [.integer($0), .text(text)]) })
        #expect(results.map(\.rows) == (0..<500).map { [[.integer($0), .text(text)]] })
        #expect(connection.roundTrips == before + 1)
        #expect(try connection.execute([]).isEmpty && connection.roundTrips == before + 1)
    }

    @Test(
        "a queued statement fails with the next call, later ones are skipped, and the connection works on"
    )
    func lateFailure() throws {
        try connection.run("CREATE TABLE kept (number bigint PRIMARY KEY)")
        let insert = "INSERT INTO kept VALUES ($1)"
        try connection.send("BEGIN")
        for number in [1, 1, 2] as [Int64] { try connection.send(insert, [.integer(number)]) }
        #expect(throws: PostgreSQLError(state: "23505", message: "SQLSTATE 23505")) {
            try connection.execute("SELECT CAST(3 AS bigint)")
        }
        #expect(connection.isUsable)
        try connection.rollBack()
        try connection.send("BEGIN")
        try connection.send(insert, [.integer(4)])
        #expect(try connection.execute("COMMIT").rows.isEmpty)
        #expect(try connection.execute("SELECT number FROM kept").rows == [[.integer(4)]])
    }

    @Test("what failed to be prepared is prepared when it can be, beside what was prepared before and after it")
    func preparation() throws {
        let statements = [
            "SELECT CAST(1 AS bigint)", "SELECT number FROM missing", "SELECT CAST(2 AS bigint)",
        ]
        for _ in 0..<2 {
            #expect(throws: PostgreSQLError.self) { try connection.execute(statements.map { ($0, []) }) }
        }
        try connection.run("CREATE TABLE missing (number bigint)")
        let results = try connection.execute(statements.map { ($0, []) })
        #expect(results.map(\.rows) == [[[.integer(1)]], [], [[.integer(2)]]])
    }

    @Test(
        "the queue is executed before statements without parameters and before a rollback, which its failure cannot stop"
    )
    func mixed() throws {
        try connection.run("CREATE TABLE kept (number bigint PRIMARY KEY)")
        try connection.send("INSERT INTO kept VALUES ($1)", [.integer(1)])
        try connection.run("INSERT INTO kept SELECT number + 1 FROM kept")
        try connection.send("BEGIN")
        try connection.send("INSERT INTO kept VALUES ($1)", [.integer(1)])
        try connection.rollBack()
        #expect(try connection.executeOnce("SELECT sum(number)::bigint FROM kept").rows == [[.integer(3)]])
    }
}
