import OfferCore
import OfferServer
import Testing

@Suite("When key sets are read")
struct KeySetStateTests {
    private static let start = ContinuousClock.now
    private static let problem = SetupProblem("it failed", hint: "mend it")
    private static let notHad = KeySetFault(.notHad, problem)
    private static let bad = KeySetFault(.bad, SetupProblem("it is bad", hint: "mend it"))
    private static let text = KeySetText([1])
    private static let good = KeySetState.Reading.success(
        (set: UserKeySet([UserKeySet.Key(id: nil, algorithm: .es256) { _, _ in true }]), problems: [problem]))

    private static func instant(_ second: Int) -> ContinuousClock.Instant { start + .seconds(second) }

    /// The first second in which a place is read again.
    private static func nextRead(_ state: KeySetState, after second: Int, askedAgain: Bool = false) -> Int? {
        (second...second + 1000).first { second in
            var state = state
            return state.begin(0, at: instant(second), isAskedAgain: askedAgain)
        }
    }

    private static func begun(_ place: KeySetPlace) -> KeySetState {
        var state = KeySetState(place)
        let (isAtOnce, isTwice) = (
            state.begin(1, at: start, isAskedAgain: false), state.begin(2, at: instant(1000), isAskedAgain: true)
        )
        #expect(isAtOnce && !isTwice, "one reading at a time")
        #expect(state.isReading(1) && !state.isReading(2))
        return state
    }

    @Test(
        "a URL that works is read every five minutes, one that fails after 5 seconds, and then less and less often",
        arguments: [false, true])
    func intervals(isBad: Bool) {
        var state = Self.begun(.url("a"))
        var second = 0
        for pause in [5, 10, 20, 40, 60, 60, 60] {
            if !isBad {
                state.fail(with: Self.notHad, at: Self.instant(second))
            } else if !state.end(with: Self.text, at: Self.instant(second)) {
                state.end(with: Self.text, .failure(Self.bad), at: Self.instant(second))
            }
            #expect(state.problems(at: Self.start) == [isBad ? Self.bad.problem : Self.problem])
            #expect(Self.nextRead(state, after: second) == second + pause)
            second += pause
            _ = state.begin(1, at: Self.instant(second), isAskedAgain: false)
        }
        state.end(with: KeySetText([2]), Self.good, at: Self.instant(second))
        #expect(Self.nextRead(state, after: second) == second + 300)
        _ = state.begin(2, at: Self.instant(second + 300), isAskedAgain: false)
        state.fail(with: Self.notHad, at: Self.instant(second + 300))
        #expect(Self.nextRead(state, after: second + 300) == second + 305, "it begins anew")
    }

    @Test("for a key that is not there a URL is read at once, and the next time after thirty seconds")
    func asking() {
        var state = Self.begun(.url("a"))
        state.end(with: Self.text, Self.good, at: Self.start)
        #expect(Self.nextRead(state, after: 1, askedAgain: true) == 1)
        _ = state.begin(2, at: Self.instant(1), isAskedAgain: true)
        let isSame = state.end(with: Self.text, at: Self.instant(1))
        #expect(isSame)
        #expect(Self.nextRead(state, after: 2, askedAgain: true) == 31)
    }

    @Test("a file is looked at every time, whatever it was")
    func files() {
        var state = Self.begun(.file(path: "a"))
        state.end(with: Self.text, Self.good, at: Self.start)
        #expect(state.problems(at: Self.start) == [Self.problem])
        #expect(Self.nextRead(state, after: 1) == 1)
        _ = state.begin(2, at: Self.instant(1), isAskedAgain: false)
        state.fail(with: Self.notHad, at: Self.instant(1))
        #expect(Self.nextRead(state, after: 2) == 2)
    }

    @Test("what could not be had leaves the old set, as old as it was; what is bad takes it away at once")
    func lifetime() {
        var state = Self.begun(.file(path: "a"))
        state.end(with: Self.text, Self.good, at: Self.start)
        _ = state.begin(2, at: Self.instant(60), isAskedAgain: false)
        let isSame = state.end(with: Self.text, at: Self.instant(60))
        #expect(isSame)
        for (number, fault) in [(3, nil), (4, Self.notHad)] {
            _ = state.begin(number, at: Self.instant(61), isAskedAgain: false)
            if let fault {
                state.end(with: KeySetText([UInt8(number)]), .failure(fault), at: Self.instant(61))
            } else {
                state.fail(with: Self.notHad, at: Self.instant(61))
            }
            #expect(state.had?.set.keys.count == 1 && state.had?.lastHad == Self.instant(60))
        }

        _ = state.begin(5, at: Self.instant(62), isAskedAgain: false)
        state.end(with: KeySetText([5]), .failure(Self.bad), at: Self.instant(62))
        #expect(state.had?.set.keys.isEmpty == true)
        #expect(state.problems(at: Self.instant(62)) == [Self.bad.problem])
        // It comes back with the text that was good before.
        _ = state.begin(6, at: Self.instant(63), isAskedAgain: false)
        let isKnown = state.end(with: Self.text, at: Self.instant(63))
        #expect(!isKnown, "it has to be read")
        state.end(with: Self.text, Self.good, at: Self.instant(63))
        #expect(state.had?.set.keys.count == 1)
    }

    @Test("a text that was refused is not read again as long as it is there, and stays refused")
    func remembered() {
        for fault in [Self.notHad, Self.bad] {
            var state = Self.begun(.file(path: "a"))
            state.end(with: Self.text, .failure(fault), at: Self.start)
            _ = state.begin(2, at: Self.instant(1), isAskedAgain: false)
            let isSame = state.end(with: Self.text, at: Self.instant(1))
            #expect(isSame)
            #expect(state.problems(at: Self.instant(1)) == [fault.problem])
        }
    }

    @Test("a reading without end is told of")
    func hanging() {
        let state = Self.begun(.file(path: "a"))
        #expect(state.problems(at: Self.instant(20)) == [])
        #expect(state.problems(at: Self.instant(21)).first?.error.contains("to read a takes longer") == true)
    }
}
