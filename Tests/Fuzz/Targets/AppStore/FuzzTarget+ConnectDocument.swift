import AppStoreConnect
import OfferCore

extension FuzzTarget {
    /// A page of App Store Connect: it reads as it does beside ordinary entries, an odd entry spoils no other, and a link to
    /// another page leaves the list neither by host nor by path.
    static let connectDocument = FuzzTarget("connect-document") { input throws(BrokenPromise) in
        if let document = try? JSONAPIDocument(json: input) {
            for resource in document.resources {
                for name in resource.relationships.keys {
                    let related = document.related(name, of: resource)
                    let count = resource.relationships[name]?.identifiers?.count ?? 0
                    try promise(
                        "a relationship has no more resources than references", related.resources.count <= count)
                }
                _ = (resource.text("name"), resource.integer("groupLevel"), resource.flag("familySharable"))
            }
            if let link = document.next { try check(link) }
        }
        try check(String(decoding: input, as: UTF8.self))
        // Half of the permitted depth, so that the document around the entry does not exceed it.
        guard (try? JSONReader.read(input, maximumCount: 64, maximumTotal: 4096)) != nil, !isDeep(input) else { return }
        let page =
            Array(#"{"data":[\#(plain("1")),"#.utf8) + input + Array(#",\#(plain("2"))],"included":["#.utf8)
            + Array(#"{"type":"o","id":"9","attributes":{"name":"x"}},"#.utf8) + input + Array("]}".utf8)
        guard let document = try? JSONAPIDocument(json: page) else {
            throw BrokenPromise(promise: "a page with an odd entry can be read")
        }
        let (first, last) = (document.resources.first, document.resources.last)
        try promise("the entries beside an odd one are read", first?.id == "1" && last?.id == "2")
        try promise(
            "every entry is a resource or counted", document.resources.count + document.unreadableCount == 3)
        for resource in [first, last].compactMap(\.self) {
            let related = document.related("offers", of: resource)
            try promise("the relationships of the other entries are whole", related.isComplete)
            try promise("they lead to the same resource", related.resources.first?.text("name") == "x")
        }
    }

    private static func plain(_ id: String) -> String {
        let offers = #"{"data":[{"type":"o","id":"9"}],"meta":{"paging":{"total":1}}}"#
        return #"{"type":"s","id":"\#(id)","relationships":{"offers":\#(offers)}}"#
    }

    private static func check(_ link: String) throws(BrokenPromise) {
        let request = AppStoreConnectRequest(["subscriptions", "1", "prices"], ["limit": "200"])
        guard let next = request.following(link) else { return }
        try promise(
            "a link changes only the cursor", next.path == request.path && next.query.hasPrefix("limit=200&cursor="))
        try promise(
            "a cursor cannot end the query", !next.query.contains("#") && !next.query.dropFirst(10).contains("&&"))
    }

    private static func isDeep(_ input: [UInt8]) -> Bool {
        var (depth, deepest) = (0, 0)
        for byte in input {
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { depth += 1 }
            if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { depth -= 1 }
            deepest = max(deepest, depth)
        }
        return deepest > 8
    }
}
