"""Check what ruff and mypy cannot: file and function lengths, and bare `print` calls outside the command line.

Run: python tools/check_style.py
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60


def problems(path: Path) -> list[str]:
    """Return what is wrong with one file, a line each."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT)
    found = []
    lines = text.count("\n")
    if lines > MAX_FILE_LINES:
        found.append(f"{name}: {lines} lines, at most {MAX_FILE_LINES}: split it by meaning")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1 - docstring_lines(node)
            if length > MAX_FUNCTION_LINES:
                found.append(f"{name}:{node.lineno}: {node.name} has {length} lines, at most {MAX_FUNCTION_LINES}")
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tests"):
            found.append(f"{name}:{node.lineno}: imports from the tests")
    return found


def docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many lines the docstring takes, which do not count."""
    first = node.body[0]
    if ast.get_docstring(node) is None:
        return 0
    return (first.end_lineno or first.lineno) - first.lineno + 1


def main() -> int:
    """Print every problem; exit code 1 if there is one."""
    files = sorted([*(ROOT / "forensegm").rglob("*.py"), *(ROOT / "tools").glob("*.py")])
    found = [problem for path in files for problem in problems(path)]
    print("\n".join(found) if found else f"{len(files)} files in order")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
