# SPDX-License-Identifier: Apache-2.0
"""Install a package into an environment of its own, on top of the one that this runs in, which
stays as it is.

usage: install.py VENV PACKAGE
"""
import importlib.util
import subprocess
import sys
import venv
from pathlib import Path

venv_folder, package = Path(sys.argv[1]), sys.argv[2]
venv.create(venv_folder, symlinks=True)
site = venv_folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
below = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
(site / "below.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in below))

# pip fetches the tools that build it, unless they are here: setuptools makes wheels itself since 70.1,
# before with the package wheel.
has_tools = importlib.util.find_spec("setuptools") and (
    importlib.util.find_spec("wheel") or importlib.util.find_spec("setuptools.command.bdist_wheel"))
here = ["--no-build-isolation"] if has_tools else []
subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                "--upgrade", "--no-deps", *here, "--target", site, package], check=True)
