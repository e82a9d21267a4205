"""Build the wheel and the sdist, and try both in clean environments: `make dist`.

The wheel is installed where the source tree cannot be seen; the smoke test and, on code as users
write it, mypy and pyright run against it. Then the sdist takes its place.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
NEEDED = ("py.typed", "prompts/core.md", "prompts/data.md", "language/")
TYPE_CHECKERS = ("mypy", "pyright")


def run(*command: object, cwd: Path = ROOT) -> None:
    """One step, shown; what fails ends it all."""
    shown = " ".join(str(part) for part in command)
    print(f"$ {shown}", flush=True)
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)


def build() -> tuple[Path, Path]:
    """The wheel and the sdist, the wheel made from the sdist."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    (wheel,) = DIST.glob("*.whl")
    (sdist,) = DIST.glob("*.tar.gz")
    return wheel, sdist


def check_contents(wheel: Path) -> None:
    """Everything that is read at run time is in the wheel, and nothing but the package."""
    names = zipfile.ZipFile(wheel).namelist()
    for needed in NEEDED:
        assert any(name.startswith(f"intent_runtime/{needed}") for name in names), needed
    strays = [name for name in names if not name.startswith(("intent_runtime/", "intent_runtime-"))]
    assert not strays, strays


def main() -> None:
    """Build and try."""
    wheel, sdist = build()
    check_contents(wheel)
    with TemporaryDirectory() as folder:
        work = Path(folder)
        run(sys.executable, "-m", "venv", work / "env")
        python = next(path for name in ("bin", "Scripts") if (path := work / "env" / name).exists())
        python = python / "python"
        pip = (python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
        run(*pip, wheel, *TYPE_CHECKERS)
        for name in ("scripts/smoke.py", "tests/typing/user_code.py"):
            shutil.copy(ROOT / name, work)
        run(python, "smoke.py", cwd=work)
        run(python, "-m", "mypy", "--strict", "user_code.py", cwd=work)
        run(python, "-m", "pyright", "--pythonpath", python, "user_code.py", cwd=work)
        run(*pip, "--force-reinstall", "--no-deps", sdist)
        run(python, "smoke.py", cwd=work)
    print(f"{wheel.name} and {sdist.name} are good")


if __name__ == "__main__":
    main()
