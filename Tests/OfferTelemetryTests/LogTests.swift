import Foundation
import Logging
import NIOConcurrencyHelpers
import OfferTelemetry
import Testing

@Suite("Log")
struct LogTests {
    private static func lines(
        _ format: LogFormat = .text, level: LogLevel = LogLevel(.info), _ work: (Logger) async -> Void
    ) async -> [Substring] {
        let written = NIOLockedValueBox<[UInt8]>([])
        let writer = LogWriter(format: format) { bytes in written.withLockedValue { $0 += bytes } }
        await work(Logger(label: "test") { _ in LineLogHandler(writer: writer, level: level) })
        await writer.finish()
        return String(decoding: written.withLockedValue { $0 }, as: UTF8.self).split(separator: "\n")
    }

    @Test("an event is logged as one line, whatever its strings contain")
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

    @Test("a text line starts with the time in UTC, to the millisecond")
    func time() async throws {
        let before = Date.now
        let line = try #require(await Self.lines { $0.notice("event") }.first)
        let after = Date.now
        #expect(line.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z notice event/) != nil)
        let time = try Date(
            String(line.prefix(24)), strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        // The line has whole milliseconds only.
        #expect(before.addingTimeInterval(-0.002) < time && time < after.addingTimeInterval(0.002))
    }

    @Test(
        "a JSON event is one object of strings on one line, and Foundation parses it back unchanged")
    func json() async throws {
        let text = "a\"\r\n{\"level\":\"forged\"}\u{2028}\u{85}\u{2063}\u{1B}[31m\\é\u{E0001}😀\u{0}/"
        let metadata: Logger.Metadata = [
            "name": "\(text)", "\(text)": "b", "time": "c", "level": "d", "level_": "e", "list": ["f", "g"],
            "number": "\(7)",
        ]
        let lines = await Self.lines(.json) { $0.warning("mess\nage", metadata: metadata) }
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.hasPrefix(#"{"time":""#) && !line.contains("\u{2028}") && !line.contains("\u{85}"))
        let members = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        #expect(members["time"]?.hasSuffix("Z") == true && members["level"] == "warning")
        #expect(members["message"] == "mess\nage")
        #expect(members["name"] == text && members[text] == "b")
        #expect(members["time_"] == "c" && members["level_"] == "d" && members["level__"] == "e")
        #expect(members["list"]?.contains("f") == true && members["number"] == "7")
        #expect(members.count == 10)
    }

    @Test("a level change takes effect immediately for every logger without its own level")
    func level() async {
        let level = LogLevel(.info)
        let lines = await Self.lines(level: level) { log in
            var own = log
            own.logLevel = .critical
            log.debug("one")
            level.current = .debug
            log.debug("two")
            own.error("three")
            level.current = .error
            log.warning("four")
            log.error("five")
        }
        #expect(lines.map { $0.split(separator: " ").last } == ["two", "five"])
    }

    @Test("no flood of other lines crowds out an alarm, and a slow reader gets it before them")
    func alarms() async throws {
        let written = NIOLockedValueBox<[UInt8]>([])
        let canWrite = DispatchSemaphore(value: 0)
        let writer = LogWriter(format: .text, capacity: 100_000) { bytes in
            canWrite.wait()
            canWrite.signal()
            written.withLockedValue { $0 += bytes }
        }
        let log = Logger(label: "test") { _ in LineLogHandler(writer: writer, level: LogLevel(.info)) }
        for number in 0..<10_000 {
            log.info("request refused", metadata: ["number": "\(number)"])
            log.error("problem", metadata: ["number": "\(number)"])
        }
        for number in 0..<100 { log.critical("ALARM", metadata: ["number": "\(number)"]) }
        for number in 0..<100 { log.error("problem", metadata: ["number": "\(number)"]) }
        canWrite.signal()
        await writer.finish()
        let lines = String(decoding: written.withLockedValue { $0 }, as: UTF8.self).split(separator: "\n")
        let alarms = lines.indices.filter { lines[$0].contains("critical ALARM") }
        let problems = lines.indices.filter { lines[$0].contains("error problem") }
        #expect(alarms.count == 100, "no alarm was dropped")
        #expect(problems.count > 100 && problems.count < 10_000, "the buffer for other lines was full")
        #expect(try #require(alarms.last) < #require(problems.last))
        #expect(
            alarms.map { lines[$0].split(separator: "\"")[1] } == (0..<100).map { Substring("\($0)") }, "in their order"
        )
    }

    @Test(
        "a stalled log reader blocks no caller; info lines are dropped and counted, critical lines are kept",
        arguments: LogFormat.allCases)
    func nobodyReads(format: LogFormat) async throws {
        let written = NIOLockedValueBox<[UInt8]>([])
        let canWrite = DispatchSemaphore(value: 0)
        let writer = LogWriter(format: format, capacity: 10_000) { bytes in
            canWrite.wait()
            canWrite.signal()
            written.withLockedValue { $0 += bytes }
        }
        let log = Logger(label: "test") { _ in LineLogHandler(writer: writer, level: LogLevel(.info)) }
        for number in 0..<10_000 { log.info("request refused", metadata: ["number": "\(number)"]) }
        log.critical("ALARM")
        canWrite.signal()
        await writer.finish()
        let text = String(decoding: written.withLockedValue { $0 }, as: UTF8.self)
        #expect(text.contains(format == .json ? #""level":"critical","message":"ALARM"}"# : "critical ALARM\n"))
        let lines = text.split(separator: "\n")
        #expect(lines.count < 1000)
        let lost = lines.compactMap { $0.firstMatch(of: /count"?[=:]"(\d+)"/).flatMap { Int($0.output.1) } }
        if format == .json { for line in lines { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) } }
        #expect(lost.reduce(0, +) + lines.filter { $0.contains("refused") }.count == 10_000)
    }
}
