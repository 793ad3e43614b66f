import FoundationEssentials
import OfferConsole
import OfferCore
import OfferIdentity

// What a browser sends to the console.
extension FuzzTarget {
    /// The query of a page or the body of an act.
    static let formReader = FuzzTarget("form-reader") { input throws(BrokenPromise) in
        let fields = [FormReader.Field("q", maximumBytes: 16), FormReader.Field("app", maximumBytes: 255)]
        let values: FormValues
        do throws(FormReader.Fault) { values = try FormReader.read(input, fields: fields) } catch {
            if case .unknownField(let name) = error { try promise("a name is cut", name.utf8.count <= 67) }
            return
        }
        var address = PageAddress("/find")
        for field in fields {
            guard let value = values[field.name] else { continue }
            try promise("a value has its size", value.utf8.count <= field.maximumBytes)
            try promise(
                "a value has no control characters",
                value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || [9, 10].contains($0.value) })
            address = address.with(field.name, value)
        }
        let query = address.text.drop { $0 != "?" }.dropFirst()
        let again = try? FormReader.read(query.utf8, fields: fields)
        try promise("an address reads as its values", fields.allSatisfy { again?[$0.name] == values[$0.name] })
    }

    /// The body of a form with a file. The boundary is `b`.
    static let multipartReader = FuzzTarget("multipart-reader") { input throws(BrokenPromise) in
        let fields = [FormReader.Field("text", maximumBytes: 16), FormReader.Field("file", maximumBytes: 255)]
        let values: FormValues
        do throws(FormReader.Fault) {
            values = try MultipartReader.read(input, boundary: Array("b".utf8), fields: fields)
        } catch {
            if case .unknownField(let name) = error { try promise("a name is cut", name.utf8.count <= 67) }
            return
        }
        var written: [UInt8] = []
        for field in fields {
            guard let value = values[field.name] else { continue }
            try promise("a value has its size", value.utf8.count <= field.maximumBytes)
            try promise(
                "a value has no control characters",
                value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || [9, 10].contains($0.value) })
            try promise("a value has no boundary", !value.contains("\r\n--b"))
            written += Array("--b\r\nContent-Disposition: form-data; name=\"\(field.name)\"\r\n\r\n\(value)\r\n".utf8)
        }
        let again = try? MultipartReader.read(
            written + Array("--b--\r\n".utf8), boundary: Array("b".utf8), fields: fields)
        try promise("a form reads as its values", fields.allSatisfy { again?[$0.name] == values[$0.name] })
    }

    /// The header `Cookie`.
    static let cookieReader = FuzzTarget("cookie-reader") { input throws(BrokenPromise) in
        let text = String(decoding: input, as: UTF8.self)
        guard let value = CookieReader.value(of: "a", in: [text]) else { return }
        try promise("a value is visible ASCII", value.utf8.allSatisfy { (0x21...0x7E).contains($0) } && !value.isEmpty)
        try promise("a value is in the header", text.contains("=" + value))
        try promise("a doubled cookie counts as none", CookieReader.value(of: "a", in: [text, "a=b"]) == nil)
        try promise("other headers change nothing", CookieReader.value(of: "a", in: ["b=1", text]) == value)
    }

    /// The cookie of a sign-in at an identity provider, and a page to return to.
    static let pendingSignIn = FuzzTarget("pending-sign-in") { input throws(BrokenPromise) in
        let text = String(decoding: input, as: UTF8.self)
        if let pending = PendingSignIn(cookieValue: text) {
            try promise("a cookie has only one form", pending.cookieValue.reveal == text)
            try promise("a page in a cookie is checked", ReturnPage(pending.page.path) == pending.page)
        }
        if let page = ReturnPage(text), let url = URL(string: page.path, relativeTo: console)?.absoluteURL {
            try promise("a page is on the console's origin", url.scheme == "https" && url.host() == "console.example")
        }
    }

    private static let console = URL(string: "https://console.example/sign-in/return")
}
