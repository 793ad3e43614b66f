import Testing

@testable import OfferConsole

@Suite("Forms")
struct FormReaderTests {
    private let fields = [FormReader.Field("q", maximumBytes: 8), FormReader.Field("note", maximumBytes: 500)]

    @Test(
        "a value is decoded",
        arguments: [
            ("q=a+b", "a b"), ("q=a%2Bb", "a+b"), ("q=%C3%A9", "é"), ("q=", ""), ("q=a%3D%26b", "a=&b"),
            ("q=a=b", "a=b"),
            ("q=a%0D%0Ab", "a\nb"), ("%71=a", "a"), ("note=x&q=%c3%A9", "é"), ("q=%09", "\t"),
        ])
    func decoding(form: String, value: String) throws {
        #expect(try FormReader.read(form.utf8, fields: fields)["q"] == value)
    }

    @Test(
        "a malformed form is refused, and the fault names the field",
        arguments: [
            ("q", .notPairs), ("q=a&", .notPairs), ("&q=a", .notPairs), ("q=a&&note=b", .notPairs),
            ("x=1", .unknownField("x")), ("q=a&q=a", .repeatedField("q")), ("q=a&%71=b", .repeatedField("q")),
            ("q=123456789", .tooLong(field: "q")), ("q=%", .badText(field: "q")), ("q=%4", .badText(field: "q")),
            ("q=%zz", .badText(field: "q")), ("q=%FF", .badText(field: "q")), ("q=%C0%80", .badText(field: "q")),
            ("q=%ED%A0%80", .badText(field: "q")), ("q=%00", .badText(field: "q")), ("q=a%0Db", .badText(field: "q")),
            ("q=%C2%85", .badText(field: "q")), ("%=a", .badName), ("=a", .unknownField("")),
        ] as [(String, FormReader.Fault)])
    func faults(form: String, fault: FormReader.Fault) {
        #expect(throws: fault) { try FormReader.read(form.utf8, fields: fields) }
    }

    @Test("sizes and counts are limited")
    func limits() throws {
        let large = Array("note=".utf8) + Array(repeating: UInt8(ascii: "a"), count: 1_000_000)
        #expect(throws: FormReader.Fault.tooLarge) { try FormReader.read(large, fields: fields) }
        let many = Array(repeating: "q=a", count: 65).joined(separator: "&")
        #expect(throws: FormReader.Fault.tooManyFields) { try FormReader.read(many.utf8, fields: fields) }
        let name = String(repeating: "n", count: 1000)
        #expect(throws: FormReader.Fault.unknownField(String(repeating: "n", count: 64) + "…")) {
            try FormReader.read("\(name)=1".utf8, fields: fields)
        }
        #expect(try FormReader.read([], fields: fields).isEmpty)
    }

    @Test("any bytes are read or refused", arguments: 0..<50 as Range<UInt64>)
    func nonsense(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("q=&%+note4aF\u{0}é;\" ,\\\t\r\n".utf8) + [0xFF, 0xC3]
        for _ in 0..<400 {
            let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            if let values = try? FormReader.read(bytes, fields: fields) {
                #expect((values["q"]?.utf8.count ?? 0) <= 8)
            }
            let cookie = CookieReader.value(of: "q", in: [String(decoding: bytes, as: UTF8.self)])
            #expect(cookie?.isEmpty != true)
        }
    }
}

@Suite("Cookies")
struct CookieReaderTests {
    @Test(
        "the one cookie with the name is found",
        arguments: [
            ["__Host-console=abc"], ["a=b; __Host-console=abc; c=d"], ["a=b", "__Host-console=abc"],
            ["__Host-console=abc;a"], ["  __Host-console=abc  "], ["x=\"a;__Host-console=abc"],
            [";;;__Host-console=abc"],
        ])
    func found(headers: [String]) {
        #expect(CookieReader.value(of: "__Host-console", in: headers) == "abc")
    }

    @Test(
        "a doubled, malformed or missing cookie is none",
        arguments: [
            [], [""], ["__Host-console"], ["__Host-console="], ["__host-console=abc"],
            ["__Host-console=a; __Host-console=b"],
            ["__Host-console=a", "__Host-console=a"], ["__Host-console=a;\t__Host-console\t=b"],
            ["__Host-console=\"a\""],
            ["__Host-console=a b"], ["__Host-console=é"], ["__Host-console=a; __Host-console"], ["X__Host-console=a"],
        ])
    func notFound(headers: [String]) {
        #expect(CookieReader.value(of: "__Host-console", in: headers) == nil)
    }

    @Test("the size of all headers is limited", arguments: [1, 2, 3000])
    func limit(count: Int) {
        let others = String(repeating: "a=b;", count: count)
        let value = CookieReader.value(of: "q", in: [others, "q=1"])
        #expect(value == (count < 3000 ? "1" : nil))
    }
}

/// A small generator of random numbers with a seed, so that a failure can be repeated.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
