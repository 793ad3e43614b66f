import NIOCore

extension ByteBuffer {
    /// Writes `answer` as HTTP/1.1 (RFC 9112), head and body.
    /// - Parameters:
    ///   - withBody: whether to send the body; an answer to HEAD only says how long it would be.
    ///   - date: the text of the `Date` header.
    ///   - isLast: whether the connection ends with it.
    mutating func write(_ answer: Answer, withBody: Bool, date: [UInt8], isLast: Bool) {
        writeString("HTTP/1.1 ")
        writeString(String(answer.status))
        writeStaticString(" ")
        writeString(Answer.reasonPhrase(for: answer.status))
        for (name, value) in answer.headers {
            writeString("\r\n")
            writeString(name)
            writeStaticString(": ")
            writeString(value)
        }
        writeStaticString("\r\nDate: ")
        writeBytes(date)
        if isLast { writeStaticString("\r\nConnection: close") }
        writeStaticString("\r\nContent-Length: ")
        writeString(String(answer.body.count))
        writeStaticString("\r\n\r\n")
        if withBody { writeBytes(answer.body) }
    }
}
