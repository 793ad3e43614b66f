import Testing

@testable import OfferConsole

@Suite("Forms with files")
struct MultipartReaderTests {
    private let fields = [FormReader.Field("text", maximumBytes: 20), FormReader.Field("file", maximumBytes: 20)]
    private static let part = "Content-Disposition: form-data; name=\"text\"\r\n\r\n"

    private func read(_ body: String) throws(FormReader.Fault) -> FormValues {
        try MultipartReader.read(Array(body.utf8), boundary: Array("b".utf8), fields: fields)
    }

    @Test("texts and files are read, and line breaks become line feeds")
    func values() throws {
        let file = "Content-Disposition: form-data; name=\"file\"; filename=\"%22 é.yaml\"\r\nContent-Type: a/b\r\n\r\n"
        let values = try read("--b\r\n\(Self.part)a\r\nb\r\n--b\r\n\(file)--b\tü\n\r\n--b--\r\n")
        #expect(values["text"] == "a\nb" && values["file"] == "--b\tü\n")
        #expect(try read("--b--\r\n").isEmpty)
        #expect(try read("--b\r\n\(Self.part)\r\n--b--\r\n")["text"] == "")
    }

    @Test(
        "a malformed form is refused",
        arguments: [
            ("", .notParts), ("--b", .notParts), ("--b--", .notParts), ("--b--\r\nx", .notParts),
            ("x\r\n--b\r\n\(part)a\r\n--b--\r\n", .notParts), ("--b\r\n\(part)a", .notParts),
            ("--b\r\n\(part)a\r\n--b\r\n", .notParts), ("--b\n\(part)a\r\n--b--\r\n", .notParts),
            ("--b\r\n\r\na\r\n--b--\r\n", .notParts),
            ("--b\r\nContent-Disposition: form-data; name=text\r\n\r\na\r\n--b--\r\n", .notParts),
            ("--b\r\nContent-Disposition: form-data; name=\"text\"; x=\"y\"\r\n\r\na\r\n--b--\r\n", .notParts),
            ("--b\r\nContent-Disposition: attachment; name=\"text\"\r\n\r\na\r\n--b--\r\n", .notParts),
            ("--b\r\nContent-Disposition: form-data; name=\"text\"\r\nX: y\r\n\r\na\r\n--b--\r\n", .notParts),
            ("--b\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\na\r\n--b--\r\n", .unknownField("other")),
            ("--b\r\n\(part)a\r\n--b\r\n\(part)a\r\n--b--\r\n", .repeatedField("text")),
            ("--b\r\n\(part)\(String(repeating: "a", count: 21))\r\n--b--\r\n", .tooLong(field: "text")),
            ("--b\r\n\(part)\u{0}\r\n--b--\r\n", .badText(field: "text")),
            ("--b\r\n\(part)\u{7F}\r\n--b--\r\n", .badText(field: "text")),
            ("--b\r\n\(part)\r\n--b\r\n\(part)\r\n--b\r\n\(part)\r\n--b--\r\n", .repeatedField("text")),
        ] as [(String, FormReader.Fault)])
    func faults(body: String, fault: FormReader.Fault) {
        #expect(throws: fault) { try read(body) }
    }

    @Test("bytes that are not UTF-8 are refused")
    func notUTF8() {
        let body = Array("--b\r\n\(Self.part)".utf8) + [0xFF] + Array("\r\n--b--\r\n".utf8)
        #expect(throws: FormReader.Fault.badText(field: "text")) {
            try MultipartReader.read(body, boundary: Array("b".utf8), fields: fields)
        }
    }

    @Test("only the header that browsers write has a boundary")
    func boundary() {
        let longest = String(repeating: "a", count: 70)
        #expect(
            MultipartReader.boundary(in: "multipart/form-data; boundary=----WebKitFormBoundaryA1").map {
                String(decoding: $0, as: UTF8.self)
            } == "----WebKitFormBoundaryA1")
        #expect(MultipartReader.boundary(in: "Multipart/Form-Data; boundary=\(longest)")?.count == 70)
        for type in [
            "multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=a",
            "multipart/form-data; boundary=\(longest)a", "multipart/form-data; boundary=a b",
            "multipart/form-data; boundary=a; charset=utf-8", "application/x-www-form-urlencoded",
        ] { #expect(MultipartReader.boundary(in: type) == nil, "\(type)") }
    }

    @Test("any bytes are read or refused", arguments: 0..<50 as Range<UInt64>)
    func nonsense(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let pieces = [
            "--b", "--", "\r\n", "\r\n\r\n", "\n", "b", "Content-Disposition: form-data; name=\"text\"",
            "; filename=\"",
            "\"", "Content-Type: ", "\u{0}", "é",
        ]
        for _ in 0..<200 {
            let body = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            guard let values = try? read("--b\r\n" + body) else { continue }
            for name in ["text", "file"] { #expect(values[name].map { $0.utf8.count <= 20 } ?? true) }
        }
    }
}
