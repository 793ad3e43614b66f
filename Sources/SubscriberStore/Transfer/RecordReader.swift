import OfferCore

/// A reader for the members of one exported record. Its errors name the member, never the value.
struct RecordReader {
    let object: JSONObject

    func utf8(_ name: String) throws(TransferError) -> [UInt8] {
        guard case .string(let utf8)? = object[name] else { throw TransferError("\(name) is missing or not a string") }
        return utf8
    }

    func text(_ name: String) throws(TransferError) -> String { String(decoding: try utf8(name), as: UTF8.self) }

    func number(_ name: String) throws(TransferError) -> Int64 {
        guard let number = try optionalNumber(name) else { throw TransferError("\(name) is missing") }
        return number
    }

    func optionalNumber(_ name: String) throws(TransferError) -> Int64? {
        guard let value = object[name] else { return nil }
        guard case .number(let digits) = value, let number = Int64(String(decoding: digits, as: UTF8.self)) else {
            throw TransferError("\(name) is not a whole number")
        }
        return number
    }

    func count(_ name: String) throws(TransferError) -> Int { Int(try number(name)) }

    func time(_ name: String) throws(TransferError) -> Timestamp { Timestamp(milliseconds: try number(name)) }

    func optionalTime(_ name: String) throws(TransferError) -> Timestamp? {
        try optionalNumber(name).map(Timestamp.init(milliseconds:))
    }

    func base64(_ name: String) throws(TransferError) -> [UInt8] {
        guard let bytes = Base64.bytes(of: try utf8(name)) else { throw TransferError("\(name) is not base64") }
        return bytes
    }

    func texts(_ name: String) throws(TransferError) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        for value in try array(name) {
            guard case .string(let utf8) = value else {
                throw TransferError("\(name) has an element that is not a string")
            }
            texts.append(utf8)
        }
        return texts
    }

    func records(_ name: String) throws(TransferError) -> [RecordReader] {
        var readers: [RecordReader] = []
        for value in try array(name) {
            guard case .object(let object) = value else {
                throw TransferError("\(name) has an element that is not an object")
            }
            readers.append(RecordReader(object: object))
        }
        return readers
    }

    private func array(_ name: String) throws(TransferError) -> [JSONValue] {
        guard case .array(let values)? = object[name] else { throw TransferError("\(name) is missing or not an array") }
        return values
    }

    /// Returns a validated field.
    func field<Field>(
        _ name: String, _ make: (_ utf8: [UInt8]) throws -> Field
    ) throws(TransferError) -> Field {
        let utf8 = try utf8(name)
        do { return try make(utf8) } catch { throw TransferError("\(name) is invalid") }
    }
}

/// The reason why an export could not be read.
package struct TransferError: Error, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
