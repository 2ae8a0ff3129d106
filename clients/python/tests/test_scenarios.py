"""The scenarios that all clients run, on both faces."""

import asyncio
import json
import unittest

from scenarios import ABILITIES, FOLDER, Run, build, canonical, same


class ScenarioTests(unittest.TestCase):
    def test_builders_make_the_clauses(self) -> None:
        for case in json.loads((FOLDER / "clauses.json").read_text())["clauses"]:
            with self.subTest(case["build"]):
                found = json.loads(json.dumps(build(case["build"]).json, default=lambda value: value.to_json()))
                self.assertTrue(same(canonical(case["clause"]), canonical(found), {}), found)

    def test_scenarios_of_the_face_that_awaits(self) -> None:
        self._run(blocking=False)

    def test_scenarios_of_the_face_that_waits(self) -> None:
        self._run(blocking=True)

    def _run(self, *, blocking: bool) -> None:
        for file in sorted(FOLDER.glob("*.json")):
            for scenario in json.loads(file.read_text()).get("scenarios", []):
                with self.subTest(file.stem, scenario=scenario["name"]):
                    self.assertLessEqual(set(scenario.get("needs", [])), ABILITIES)
                    asyncio.run(Run(scenario, blocking=blocking).run())


if __name__ == "__main__":
    unittest.main()
