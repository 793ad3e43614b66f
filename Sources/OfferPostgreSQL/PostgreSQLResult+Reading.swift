import CPostgreSQL

extension PostgreSQLResult {
    /// Reads a result whose columns are all in binary format.
    init(_ result: OpaquePointer) {
        let columns = unsafe 0..<offer_pg_columns(result)
        let types = columns.map { unsafe offer_pg_column_type(result, $0) }
        self.columns = columns.map { column in
            unsafe offer_pg_column_name(result, column).map { unsafe String(cString: $0) } ?? ""
        }
        rows = unsafe (0..<offer_pg_rows(result)).map { row in
            columns.map { column in unsafe Self.value(result, row, column, types[Int(column)]) }
        }
        changes = unsafe Int(offer_pg_changes(result))
    }

    /// The OIDs of the types that the server sends as big-endian numbers: `bigint`, `smallint` and `integer`.
    private static let integers: Set<UInt32> = [20, 21, 23]
    private static let bytes: UInt32 = 17

    private static func value(_ result: OpaquePointer, _ row: Int32, _ column: Int32, _ type: UInt32) -> PostgreSQLValue
    {
        guard unsafe !offer_pg_is_null(result, row, column), let start = unsafe offer_pg_value(result, row, column)
        else {
            return .null
        }
        let length = unsafe Int(offer_pg_length(result, row, column))
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: length)
        if type == Self.bytes { return unsafe .bytes(Array(bytes)) }
        guard integers.contains(type) else { return unsafe .text(String(decoding: bytes, as: UTF8.self)) }
        let isNegative = unsafe (bytes.first ?? 0) & 0x80 != 0
        return unsafe .integer(bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) })
    }
}
