import Objects
import Testing

@testable import QueryServer

/// Every order of a few events, against a model that knows only what was asked: every line's answers
/// come, in order, whole; notifications stand between them, and before the answer that promises them;
/// and nothing is forgotten.
@Suite struct ConnectionOrderTests {
    private enum Step: CaseIterable {
        case read, costlyRead, write, batch, sync, refusal
        case finishRead, finishWrite, tell
        case stall, closeRoom, openRoom
        case notify, endHold, passTime, turn
        case halfClose, drain
    }

    /// A connection, and the answers that its client waits for.
    private struct State {
        var run: ConnectionRun
        var expected = ""
        var hasEnded = false
        /// Notifications that waited when the service stopped.
        var toldBeforeEnd = 0

        init() {
            var limits = Limits()
            limits.pipelinedRequests = 2
            limits.outputBytes = 16
            run = ConnectionRun(limits: limits)
        }

        /// - Returns: false for what cannot happen now.
        mutating func take(_ step: Step) -> Bool {
            switch step {
            case .read: return ask("r1\n")
            case .costlyRead: return ask("R2\nr3\n")
            case .write: return ask("w4\n")
            case .batch: return ask("[r5,w6,d6,R7]\n")
            case .sync: return ask("[r9,s10]\n")
            case .refusal: return ask("x8\n")
            case .finishRead:
                guard run.running != nil else { return false }
                run.finishRead()
            case .finishWrite:
                guard !run.submitted.isEmpty else { return false }
                run.finishWrite()
            case .tell:
                guard run.waiting != nil else { return false }
                run.tell()
            case .stall: run.setWritable(!run.isWritable)
            case .closeRoom:
                guard run.hasRoom else { return false }
                run.setRoom(false)
            case .openRoom:
                guard !run.hasRoom else { return false }
                run.setRoom(true)
            case .notify: run.notify()
            case .endHold:
                guard run.connection.heldSince != nil else { return false }
                run.endHold()
            case .passTime:
                guard run.stepTime == 0 else { return false }
                run.stepTime = Connection.turnTime + 1
            case .turn:
                guard run.isQueued else { return false }
                run.giveTurn()
            case .halfClose:
                guard !hasEnded else { return false }
                hasEnded = true
                run.handle(.inputClosed)
            case .drain:
                guard !hasEnded else { return false }
                hasEnded = true
                toldBeforeEnd = run.notifications
                run.handle(.drained)
            }
            return true
        }

        private mutating func ask(_ line: String) -> Bool {
            guard run.isReading, !hasEnded else { return false }
            expected += line
            run.receive(line)
            return true
        }

        /// What is wrong, if anything is.
        func fault() -> String? {
            if let fault = run.faults.first { return fault }
            let (answers, told) = Self.parts(of: run.sent)
            if !expected.hasPrefix(answers) { return "\(run.sent) of \(expected)" }
            if told != (0..<told.count).map({ "N\($0 + 1)" }) { return "\(told)" }
            let mayTell =
                run.isWritable && !run.isQueued && !hasEnded && run.connection.isBetweenLines
            if run.connection.heldSince != nil, run.submitted.isEmpty, mayTell {
                return "notifications wait for no answer"
            }
            return nil
        }

        /// What is wrong when all that was begun has come to its end.
        func faultAtTheEnd() -> String? {
            var end = self
            end.run.finishAll()
            if let fault = end.fault() { return fault }
            let answers = Self.parts(of: end.run.sent).answers
            if answers != expected { return "\(answers) instead of \(expected)" }
            if hasEnded, !end.run.isClosed, !end.run.hasEndedOutput { return "no end" }
            let told = end.run.notifications - end.run.untold
            if told < (hasEnded ? toldBeforeEnd : run.notifications) { return "only \(told)" }
            if hasEnded { return nil }
            return end.run.isReading ? nil : "it does not read on"
        }

        private static func parts(of sent: String) -> (answers: String, told: [String]) {
            var (answers, told) = ("", [String]())
            for line in sent.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.hasPrefix("N") {
                    told.append(String(line))
                } else {
                    answers += line + "\n"
                }
            }
            answers.removeLast()
            return (answers, told)
        }
    }

    @Test func `Answers come in order, notifications between them, and nothing is forgotten`() {
        var (states, faults) = (0, [String]())
        func explore(_ state: State, _ steps: [Step]) {
            states += 1
            if let fault = state.fault() ?? state.faultAtTheEnd(), faults.count < 5 {
                faults.append("\(fault) after \(steps)")
            }
            guard steps.count < 5 else { return }
            for step in Step.allCases {
                var next = state
                if next.take(step) { explore(next, steps + [step]) }
            }
        }
        explore(State(), [])
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
        #expect(states > 40_000)
    }
}
