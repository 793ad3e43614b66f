import OfferCore
import OfferServer
import Testing

@Suite("When key sets are read")
struct KeySetStateTests {
    private static let start = ContinuousClock.now
    private static let problem = SetupProblem("it failed", hint: "mend it")

    /// The first second in which a place is read again.
    private static func nextRead(_ state: KeySetState, after second: Int, askedAgain: Bool = false) -> Int? {
        (second...second + 1000).first { second in
            var state = state
            return state.begin(at: start + .seconds(second), isAskedAgain: askedAgain)
        }
    }

    private static func begun(_ place: KeySetPlace) -> KeySetState {
        var state = KeySetState(place)
        let (isAtOnce, isTwice) = (
            state.begin(at: start, isAskedAgain: false), state.begin(at: start + .seconds(1000), isAskedAgain: true)
        )
        #expect(isAtOnce && !isTwice, "one reading at a time")
        return state
    }

    @Test("a URL that works is read every five minutes, one that fails after 5 seconds, and then less and less often")
    func intervals() {
        var state = Self.begun(.url("a"))
        var second = 0
        for pause in [5, 10, 20, 40, 60, 60, 60] {
            state.fail(with: Self.problem, at: Self.start + .seconds(second))
            #expect(state.problems(at: Self.start) == [Self.problem])
            #expect(Self.nextRead(state, after: second) == second + pause)
            second += pause
            _ = state.begin(at: Self.start + .seconds(second), isAskedAgain: false)
        }
        state.succeed(at: Self.start + .seconds(second))
        #expect(state.problems(at: Self.start) == [])
        #expect(Self.nextRead(state, after: second) == second + 300)
        _ = state.begin(at: Self.start + .seconds(second + 300), isAskedAgain: false)
        state.fail(with: Self.problem, at: Self.start + .seconds(second + 300))
        #expect(Self.nextRead(state, after: second + 300) == second + 305, "it begins anew")
    }

    @Test("for a key that is not there a URL is read at once, and the next time after thirty seconds")
    func asking() {
        var state = Self.begun(.url("a"))
        state.succeed(at: Self.start)
        #expect(Self.nextRead(state, after: 1, askedAgain: true) == 1)
        _ = state.begin(at: Self.start + .seconds(1), isAskedAgain: true)
        state.succeed(at: Self.start + .seconds(1))
        #expect(Self.nextRead(state, after: 2, askedAgain: true) == 31)
    }

    @Test("a file is looked at every time, whatever it was")
    func files() {
        var state = Self.begun(.file(path: "a"))
        state.succeed(with: [1], problems: [Self.problem], at: Self.start)
        #expect(state.problems(at: Self.start) == [Self.problem] && state.text == [1])
        #expect(Self.nextRead(state, after: 1) == 1)
        _ = state.begin(at: Self.start + .seconds(1), isAskedAgain: false)
        state.fail(with: Self.problem, at: Self.start + .seconds(1))
        #expect(Self.nextRead(state, after: 2) == 2 && state.text == [1])
    }

    @Test("a reading without end is told of")
    func hanging() {
        let state = Self.begun(.file(path: "a"))
        #expect(state.problems(at: Self.start + .seconds(20)) == [])
        #expect(state.problems(at: Self.start + .seconds(21)).first?.error.contains("to read a takes longer") == true)
    }
}
