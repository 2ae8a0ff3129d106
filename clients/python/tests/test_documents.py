"""The code of README.md and docs/python.md runs, and prints what it says."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import pathlib
import re
import unittest
from typing import Any

from service import Service

HERE = pathlib.Path(__file__).resolve()


class DocumentTests(unittest.TestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        cls.service = Service()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.service.remove()

    def run_block(self, code: str, names: dict[str, Any]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(
                compile(code.replace("localhost:4362", self.service.address), "a document", "exec", dont_inherit=True),
                names,
            )
        return printed.getvalue()

    def test_the_readme_prints_what_it_says(self) -> None:
        text = (HERE.parents[1] / "README.md").read_text()
        codes = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        outputs = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
        self.assertEqual((len(codes), len(outputs)), (2, 2))
        for code, output in zip(codes, outputs, strict=True):
            self.assertEqual(self.run_block(code, {}), output)

    def test_the_page_of_docs_runs(self) -> None:
        text = (HERE.parents[3] / "docs/python.md").read_text()
        names: dict[str, Any] = {"__name__": "documents"}
        printed = ""
        for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            if "import pandas" in code and importlib.util.find_spec("pandas") is None:
                code = 'airports = db["airports"]'
            printed += self.run_block(code, names)
        for line in ["Kiosk 3187.12046", "Bar 1", "enter c7", "10000"]:
            self.assertIn(line, printed)


if __name__ == "__main__":
    unittest.main()
