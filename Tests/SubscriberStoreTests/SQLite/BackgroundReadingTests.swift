import Dispatch
import Testing

@testable import SubscriberStore

@Suite("Reading in the background")
struct BackgroundReadingTests {
    /// One thread at a time, which knows that it is the background's.
    private final class Background: TaskExecutor {
        static let key = DispatchSpecificKey<Bool>()
        private let queue = DispatchQueue(label: "background")

        init() { queue.setSpecific(key: Self.key, value: true) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }

        static var isHere: Bool { DispatchQueue.getSpecific(key: key) == true }
    }

    @Test("is done by its own threads, also for child tasks, and no other reading is")
    func threads() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        func isInBackground() async throws(StoreError) -> Bool { try await store.read { _ in Background.isHere } }
        #expect(try await !isInBackground())
        let (deciding, reading) = (BlockingThreads(named: "deciding", maximum: 1), Background())
        #expect(try await withTaskExecutorPreference(reading) { try await !isInBackground() })
        let background = BackgroundReading(executor: deciding, readers: reading)
        let reads = try await background.run {
            #expect(!Background.isHere, "it decides elsewhere")
            return try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<3 { group.addTask { try await isInBackground() } }
                return try await group.reduce(into: [try await isInBackground()]) { $0.append($1) }
            }
        }
        #expect(reads == [true, true, true, true])
        #expect(try await !isInBackground())
        #expect(try await BackgroundReading(executor: deciding).run { try await !isInBackground() })
        try store.close()
        withExtendedLifetime(database) {}
    }

    @Test("its error is that of the work")
    func failure() async throws {
        let error = await #expect(throws: StoreError.self) {
            try await BackgroundReading().run { () async throws(StoreError) in
                throw StoreError(.unreadable, "a row")
            }
        }
        #expect(error?.kind == .unreadable)
    }
}
