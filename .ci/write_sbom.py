"""Print a software bill of materials for the files of a release, in the format CycloneDX 1.6.

    python .ci/write_sbom.py dist > sbom.cdx.json

Nothing of other projects is in the files: what they need is installed beside them.
"""

import json
import re
import sys
import tomllib
from hashlib import sha256
from pathlib import Path


def component(requirement):
    """Return a library that the package needs: "numpy>=1.26"."""
    name, at_least = re.match(r"([\w-]+)>=([\w.]+)$", requirement).groups()
    purl = f"pkg:pypi/{name}"
    what = {"type": "library", "bom-ref": purl, "name": name, "purl": purl, "scope": "required"}
    return what | {"description": f"installed beside the package, {at_least} or newer"}


def bill(folder):
    """Return the bill of all files in a folder."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = project["name"], project["version"]
    purl = f"pkg:pypi/{name}@{version}"
    package = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    package["licenses"] = [{"license": {"id": project["license"]}}]
    needed = [component(each) for each in project["dependencies"]]
    files = [
        {
            "type": "file",
            "bom-ref": path.name,
            "name": path.name,
            "hashes": [{"alg": "SHA-256", "content": sha256(path.read_bytes()).hexdigest()}],
        }
        for path in sorted(Path(folder).iterdir())
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": package},
        "components": files + needed,
        "dependencies": [{"ref": purl, "dependsOn": [each["purl"] for each in needed]}],
    }


if __name__ == "__main__":
    print(json.dumps(bill(sys.argv[1]), indent=2))
