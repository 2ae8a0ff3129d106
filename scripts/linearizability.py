#!/usr/bin/env python3
"""Whether histories of concurrent operations on single objects have an order that explains every answer: one
that keeps the operations between their calls and their answers, and in which each sees those before it.

    scripts/linearizability.py --self-test

The object is a register with a version: absent, or the value of its last put and the number of its puts since
it came to be. The search is that of Wing and Gong, "Testing and Verifying Concurrent Objects" (1993), which
never visits a set of operations that led to the same state twice: Lowe, "Testing for Linearizability" (2017).
"""
import argparse, collections, sys

# An operation on one object. `kind` is put, delete or get. `condition` is the version that the object must
# have (0: it must be absent; None: any). `value` is what is put. `result` is what was answered:
#   ("ok", version)            a put that was done; a delete that was done has version 0
#   ("read", version, value)   a get
#   ("missing",) ("stale",) ("exists",)   refusals, and a get that found nothing
#   None                       no answer: it was done at any time after its call, or never
Operation = collections.namedtuple("Operation", "kind condition value result called answered")

ABSENT = (0, None)
NEVER = float("inf")


def outcome(operation, state):
    """What an operation answers in a state, and the state that it leads to."""
    version, value = state
    if operation.kind == "get":
        return (("read", version, value) if version else ("missing",)), state
    if operation.condition is not None and operation.condition != version:
        return (("exists",) if operation.condition == 0 else ("stale",) if version else ("missing",)), state
    if operation.kind == "put":
        return ("ok", version + 1), (version + 1, operation.value)
    return (("ok", 0), ABSENT) if version else (("missing",), state)


def is_linearizable(history):
    """Whether some order explains the answers of the operations on one object that was absent at first."""
    # An operation that changed nothing and was not answered explains nothing.
    operations = sorted((o for o in history if o.result or o.kind != "get"), key=lambda o: o.called)
    answered = [o.answered if o.result else NEVER for o in operations]
    needed = sum(1 << n for n, o in enumerate(operations) if o.result)
    visited, waiting = set(), [(0, 0, ABSENT)]
    while waiting:
        # `first`: all operations before it are done.
        done, first, state = waiting.pop()
        if done & needed == needed:
            return True
        if (done, state) in visited:
            continue
        visited.add((done, state))
        while done >> first & 1:
            first += 1
        # Whatever was called before the first answer of those that are not done may be the next.
        candidates, end = [], NEVER
        for n in range(first, len(operations)):
            if operations[n].called > end:
                break
            if not done >> n & 1:
                candidates.append(n)
                end = min(end, answered[n])
        for n in reversed(candidates):
            if operations[n].called <= end:
                result, following = outcome(operations[n], state)
                # What was not answered is only of use when it changes something.
                if result == operations[n].result if operations[n].result else following != state:
                    waiting.append((done | 1 << n, first, following))
    return False


def self_test():
    def history(*rows):
        return [Operation(*row) for row in rows]

    def put(value, version, called, answered, condition=None):
        return ("put", condition, value, version if version is None else ("ok", version), called, answered)

    def get(version, value, called, answered):
        return ("get", None, None, ("read", version, value) if version else ("missing",), called, answered)

    def refused(kind, condition, reason, called, answered):
        return (kind, condition, "refused", (reason,), called, answered)

    deleted = lambda called, answered: ("delete", None, None, ("ok", 0), called, answered)
    right = {
        "nothing": history(),
        "one after the other": history(put("a", 1, 0, 1), get(1, "a", 2, 3), put("b", 2, 4, 5), get(2, "b", 6, 7)),
        "reads beside a write see it or not": history(
            put("a", 1, 0, 1), put("b", 2, 2, 9), get(1, "a", 3, 4), get(2, "b", 5, 6)),
        "writes at once in either order": history(put("a", 2, 0, 9), put("b", 1, 1, 8), get(2, "a", 10, 11)),
        "one of two conditional writes": history(
            put("a", 1, 0, 1), put("b", 2, 2, 5, 1), refused("put", 1, "stale", 2, 6), get(2, "b", 7, 8)),
        "a lost answer, done late": history(
            put("a", None, 0, 1), get(0, None, 2, 3), get(1, "a", 4, 5)),
        "a lost answer, never done": history(put("a", None, 0, 1), get(0, None, 2, 3), put("b", 1, 4, 5)),
        "a lost conditional write": history(
            put("a", 1, 0, 1), put("b", None, 2, 3, 1), put("c", 3, 4, 5), get(3, "c", 6, 7)),
        "deleted and made again": history(
            put("a", 1, 0, 1), deleted(2, 3), get(0, None, 4, 5), put("b", 1, 6, 7, 0),
            refused("put", 0, "exists", 8, 9)),
        "nothing to delete": history(refused("delete", None, "missing", 0, 1)),
        "many at once": history(*(put(f"v{n}", 20 - n, 0, 99) for n in range(20)), get(20, "v0", 100, 101)),
    }
    wrong = {
        "a stale read": history(put("a", 1, 0, 1), put("b", 2, 2, 3), get(1, "a", 4, 5)),
        "a read that goes back": history(
            put("a", 1, 0, 1), put("b", 2, 2, 9), get(2, "b", 3, 4), get(1, "a", 5, 6)),
        "a read of what was not written yet": history(get(1, "a", 0, 1), put("a", 1, 2, 3)),
        "a lost write": history(put("a", 1, 0, 1), get(0, None, 2, 3)),
        "a lost write, written over": history(put("a", 1, 0, 1), put("b", 1, 2, 3)),
        "a write done twice": history(put("a", 1, 0, 1), put("b", 2, 2, 3), get(3, "b", 4, 5)),
        "a lost answer done twice": history(
            put("a", None, 0, 1), get(1, "a", 2, 3), put("b", 2, 4, 5), get(3, "a", 6, 7)),
        "a version used twice": history(put("a", 1, 0, 9), put("b", 1, 1, 8)),
        "two conditional writes on one version": history(
            put("a", 1, 0, 1), put("b", 2, 2, 5, 1), put("c", 3, 2, 6, 1)),
        "refused for a version that it had": history(put("a", 1, 0, 1), refused("put", 1, "stale", 2, 3)),
        "back from deletion": history(put("a", 1, 0, 1), deleted(2, 3), get(1, "a", 4, 5)),
        "another value": history(put("a", 1, 0, 1), get(1, "b", 2, 3)),
    }
    faults = [f"refuses {name}" for name, rows in right.items() if not is_linearizable(rows)]
    faults += [f"accepts {name}" for name, rows in wrong.items() if is_linearizable(rows)]
    if faults:
        sys.exit("geobucket: the check of histories " + "; ".join(faults))
    print(f"linearizability: {len(right)} histories accepted, {len(wrong)} rejected, as they have to be")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true", required=True)
    parser.parse_args()
    self_test()
