import Foundation
import Logging
import NIOConcurrencyHelpers
import OfferServer
import Testing

@Suite("Log")
struct LogTests {
    private static func lines(_ work: (Logger) async -> Void) async -> [Substring] {
        let written = NIOLockedValueBox<[UInt8]>([])
        let writer = LogWriter { bytes in written.withLockedValue { $0 += bytes } }
        await work(Logger(label: "test") { _ in LineLogHandler(writer: writer) })
        await writer.finish()
        return String(decoding: written.withLockedValue { $0 }, as: UTF8.self).split(separator: "\n")
    }

    @Test("an event is one line, whatever its texts hold")
    func oneLine() async {
        let lines = await Self.lines { log in
            log.notice("first", metadata: ["b": "2", "a": "x y"])
            log.notice("se\ncond", metadata: ["name": "a\"\r\n2026 forged\u{2028}\u{2063}\u{1B}[31m\\é"])
        }
        #expect(lines.count == 2)
        #expect(lines[0].hasSuffix(#" notice first a="x y" b="2""#))
        #expect(
            lines[1].hasSuffix(
                #" notice se\u{a}cond name="a\"\u{d}\u{a}2026 forged\u{2028}\u{2063}\u{1b}[31m\\é""#))
    }

    @Test("who does not read the log holds nobody up, and loses lines but not the important ones")
    func nobodyReads() async {
        let written = NIOLockedValueBox<[UInt8]>([])
        let canWrite = DispatchSemaphore(value: 0)
        let writer = LogWriter(capacity: 10_000) { bytes in
            canWrite.wait()
            canWrite.signal()
            written.withLockedValue { $0 += bytes }
        }
        var log = Logger(label: "test") { _ in LineLogHandler(writer: writer) }
        log.logLevel = .info
        for number in 0..<10_000 { log.info("request refused", metadata: ["number": "\(number)"]) }
        log.critical("ALARM")
        canWrite.signal()
        await writer.finish()
        let text = String(decoding: written.withLockedValue { $0 }, as: UTF8.self)
        #expect(text.contains("critical ALARM\n"))
        let lines = text.split(separator: "\n")
        #expect(lines.count < 1000)
        let lost = lines.compactMap { $0.hasPrefix("(") ? Int($0.dropFirst().prefix { $0.isNumber }) : nil }
        #expect(lost.reduce(0, +) + lines.filter { $0.contains("refused") }.count == 10_000)
    }
}
