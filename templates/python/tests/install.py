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

# What builds it is fetched by pip, unless it is here already.
here = ["--no-build-isolation"] if importlib.util.find_spec("setuptools") else []
subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                "--upgrade", "--no-deps", *here, "--target", site, package], check=True)
