import Foundation
import OfferCore
import TestSupport
import Testing

@Suite("JSON reader")
struct JSONReaderTests {
    @Test(
        "JSON that violates RFC 8259 or that parsers disagree on is refused",
        arguments: [
            ("", .endsTooEarly), (" ", .endsTooEarly), ("{", .endsTooEarly), ("{\"a\"", .endsTooEarly),
            ("{\"a\":", .endsTooEarly), ("{\"a\":1", .endsTooEarly), ("\"", .endsTooEarly), ("\"\\", .endsTooEarly),
            ("[1,", .endsTooEarly), ("nul", .endsTooEarly), ("-", .endsTooEarly), ("1.", .endsTooEarly),
            ("{}{}", .trailingText), ("{}\u{0}", .trailingText), ("{},", .trailingText), ("1 2", .trailingText),
            ("01", .trailingText), ("{\"a\":1,}", .unexpectedByte), ("[1,]", .unexpectedByte), ("{,}", .unexpectedByte),
            ("{a:1}", .unexpectedByte), ("{'a':1}", .unexpectedByte), ("[1 2]", .unexpectedByte),
            ("{\"a\" 1}", .unexpectedByte), ("{1:1}", .unexpectedByte), ("NaN", .unexpectedByte),
            ("Infinity", .unexpectedByte), ("+1", .unexpectedByte), (".5", .unexpectedByte), ("1.e5", .unexpectedByte),
            ("1e", .endsTooEarly), ("-a", .unexpectedByte), ("tru3", .unexpectedByte), ("True", .unexpectedByte),
            ("// c\n1", .unexpectedByte), ("\u{FEFF}{}", .unexpectedByte), ("\u{A0}1", .unexpectedByte),
            ("{\"a\":1,\"a\":2}", .duplicateName), ("{\"a\":1,\"\\u0061\":2}", .duplicateName),
            ("[{\"a\":{\"b\":1,\"b\":1}}]", .duplicateName), ("\"\u{1}\"", .controlCharacter),
            ("\"a\nb\"", .controlCharacter), ("\"\\n\u{0}\"", .controlCharacter), ("\"\\x\"", .badEscape),
            ("\"\\u12\"", .badEscape), ("\"\\u12G4\"", .badEscape), ("\"\\U0041\"", .badEscape),
            ("\"\\ud800\"", .unpairedSurrogate), ("\"\\udc00\"", .unpairedSurrogate),
            ("\"\\ud800\\u0041\"", .unpairedSurrogate), ("\"\\ud800\\ud800\"", .unpairedSurrogate),
            (String(repeating: "[", count: 17), .tooDeep), (String(repeating: "{\"a\":", count: 17), .tooDeep),
            ("[" + String(repeating: "1,", count: 64) + "1]", .tooMany),
            (
                "["
                    + Array(repeating: "[\(Array(repeating: "{}", count: 64).joined(separator: ","))]", count: 64)
                    .joined(separator: ",") + "]", .tooMany
            ),
        ] as [(String, JSONError.Reason)])
    func refused(text: String, reason: JSONError.Reason) {
        do {
            _ = try JSONReader.read(Array(text.utf8))
            Issue.record("\(text) was accepted")
        } catch {
            #expect(error.reason == reason)
        }
    }

    @Test(
        "invalid UTF-8 is refused",
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xC0, 0x80, 0x22],
            [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00],
        ] as [[UInt8]])
    func notUTF8(bytes: [UInt8]) {
        #expect(throws: JSONError(.notUTF8, at: 0)) { try JSONReader.read(bytes) }
    }

    @Test("UTF-16 is refused, even if every byte is ASCII")
    func utf16() {
        #expect(throws: JSONError.self) { try JSONReader.read([0x00, 0x7B, 0x00, 0x7D]) }
        #expect(throws: JSONError.self) { try JSONReader.read([0x7B, 0x00, 0x7D, 0x00]) }
    }

    private static func object(_ text: [UInt8]) throws -> JSONObject {
        guard case .object(let object) = try JSONReader.read(text) else { throw CancellationError() }
        return object
    }

    @Test("the text of a member's value is returned byte for byte")
    func textOfMember() throws {
        let text = #" { "a" : {"b": 1 } , "b":[ "}" ,2],"\u0063" :-1.0e5,"d":"\u00e9\\" } "#
        for (name, expected) in [
            ("a", #"{"b": 1 }"#), ("b", #"[ "}" ,2]"#), ("c", "-1.0e5"), ("d", #""\u00e9\\""#), ("e", nil), ("", nil),
        ] as [(String, String?)] {
            let found = try JSONReader.text(ofMember: name, in: Array(text.utf8))
            #expect(found.map { String(decoding: $0, as: UTF8.self) } == expected)
        }
        #expect(try JSONReader.text(ofMember: "a", in: Array("{}".utf8)) == nil)
        #expect(try JSONReader.text(ofMember: "a", in: Array("[]".utf8)) == nil)
    }

    @Test("escapes are decoded to the bytes they represent")
    func escapes() throws {
        let text = #""\"\\\/\b\f\n\r\t\u0041\u00e9\u2063\ud83d\ude00é😀""#
        let expected = "\"\\/\u{8}\u{C}\n\r\tA\u{E9}\u{2063}\u{1F600}é😀"
        #expect(try JSONReader.read(Array(text.utf8)) == .string(Array(expected.utf8)))
        #expect(
            try JSONReader.read(Array(" { \"a\" : [ 1 , -2.5e+3 , true , null ] } ".utf8))
                == .object(
                    Self.object(Array("{\"a\":[1,-2.5e+3,true,null]}".utf8))))
        #expect(try JSONReader.read(Array("-2.5e+3".utf8)) == .number(Array("-2.5e+3".utf8)))
    }

    @Test("names are looked up by their bytes, not by canonical equivalence")
    func names() throws {
        // U+212A, the Kelvin sign, is canonically equivalent to K.
        let object = try Self.object(Array("{\"\u{212A}\":1,\"K\":2}".utf8))
        #expect(object.members.count == 2)
        #expect(object["K"] == .number(Array("2".utf8)))
        #expect(object["\u{212A}"] == .number(Array("1".utf8)))
    }

    @Test("Foundation parses every damaged text that we accept to the same value", arguments: [1, 2] as [UInt64])
    func agreesWithFoundation(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let start = Array(#"{"a":"x\u00e9\n","b":[1,-2.5e3,{"c":null}],"d":true,"é":"\ud83d\ude00"}"#.utf8)
        var taken = 0
        for round in 0..<100_000 {
            if round % 256 == 0 { await Task.yield() }
            var bytes = start
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.remove(at: place)
                case 1: bytes.insert(bytes[Int.random(in: bytes.indices, using: &random)], at: place)
                case 2: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                default: bytes.swapAt(place, Int.random(in: bytes.indices, using: &random))
                }
            }
            guard case .object(let object)? = try? JSONReader.read(bytes) else { continue }
            taken += 1
            let theirs = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
            guard let theirs, object.members.count >= theirs.count,
                object.members.allSatisfy({ Self.agree($0.value, theirs[String(decoding: $0.name, as: UTF8.self)]) })
            else {
                Issue.record("\(String(decoding: bytes, as: UTF8.self))")
                return
            }
        }
        #expect(taken > 1000)
    }

    private static func agree(_ ours: JSONValue, _ theirs: Any?) -> Bool {
        switch ours {
        case .string(let utf8): (theirs as? String).map { Array($0.utf8) == utf8 } ?? false
        case .null: theirs is NSNull
        case .bool(let value): theirs as? Bool == value
        case .number(let text): (theirs as? NSNumber)?.doubleValue == Double(String(decoding: text, as: UTF8.self))
        case .array(let elements):
            if let theirs = theirs as? [Any] {
                theirs.count == elements.count && zip(elements, theirs).allSatisfy { agree($0, $1) }
            } else {
                false
            }
        case .object(let object):
            if let theirs = theirs as? [String: Any] {
                object.members.allSatisfy { agree($0.value, theirs[String(decoding: $0.name, as: UTF8.self)]) }
            } else {
                false
            }
        }
    }
}
