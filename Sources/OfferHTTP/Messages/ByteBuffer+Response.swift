import NIOCore

extension ByteBuffer {
    /// Appends `response` as HTTP/1.1 (RFC 9112): its head, and its body unless that is shared.
    /// - Parameters:
    ///   - withBody: false for the response to HEAD, which states the length of the body but omits the body.
    ///   - date: the value of the `Date` header.
    ///   - isLast: whether the connection closes after this response.
    mutating func write(_ response: HTTPResponse, withBody: Bool, date: [UInt8], isLast: Bool) {
        if response.status == 200, response.mediaType == .json {
            // The common case is written in one piece. Several pieces would take half a microsecond.
            writeStaticString("HTTP/1.1 200 OK\r\nContent-Type: application/json")
        } else {
            writeStaticString("HTTP/1.1 ")
            writeString("\(response.status) \(HTTPResponse.reasonPhrase(for: response.status))")
            if let mediaType = response.mediaType { writeHeader("Content-Type", mediaType.rawValue) }
        }
        if let lifetime = response.lifetime {
            writeHeader("Cache-Control", "private, max-age=\(lifetime)")
        } else {
            writeStaticString("\r\nCache-Control: no-store")
        }
        if let requestID = response.requestID {
            writeStaticString("\r\nX-Request-ID: ")
            writeString(requestID.text)
        }
        for (name, value) in response.rareHeaders { writeHeader(name, value) }
        writeStaticString("\r\nDate: ")
        writeBytes(date)
        if isLast { writeStaticString("\r\nConnection: close") }
        if let length = response.contentLength {
            writeStaticString("\r\nContent-Length: ")
            writeString(String(length))
        }
        writeStaticString("\r\n\r\n")
        if withBody, case .bytes(let body) = response.content { writeBytes(body) }
    }

    private mutating func writeHeader(_ name: String, _ value: String) {
        writeStaticString("\r\n")
        writeString(name)
        writeStaticString(": ")
        writeString(value)
    }
}
