#!/usr/bin/env python3
"""Checks what is in this folder as far as it can be checked without running it.

    python3 deploy/check.py

Kubernetes manifests, the base and each overlay with its patches applied, against the published
schemas; the unit by systemd-analyze; metric names in the dashboard and flags in commands against
what the service has. Needs Debian's systemd for the unit, and the packages PyYAML, jsonpatch and
kubernetes-validate from PyPI; what is missing is skipped and said.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent / "Sources"
KUBERNETES = "1.30"
faults = []


def fault(text):
    faults.append(text)
    print(f"fault: {text}")


def skipped(what, why):
    print(f"skipped: {what}: {why}")


def resources(folder):
    """The manifests of a kustomization, patches applied."""
    import jsonpatch
    import yaml

    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    found = []
    for entry in kustomization.get("resources", []):
        path = folder / entry
        found += resources(path.resolve()) if path.is_dir() else [yaml.safe_load(path.read_text())]
    for patch in kustomization.get("patches", []):
        target = patch["target"]
        matching = [
            r for r in found
            if r["kind"] == target["kind"] and r["metadata"]["name"] == target["name"]
        ]
        if len(matching) != 1:
            fault(f"{folder.name}: a patch of {target} meets {len(matching)} resources")
            continue
        changed = jsonpatch.apply_patch(matching[0], yaml.safe_load(patch["patch"]))
        found[found.index(matching[0])] = changed
    # A kustomization gives its labels to selectors too, which the schemas require.
    for group in kustomization.get("labels", []):
        for resource in found:
            label(resource, group["pairs"])
    return found


def label(resource, pairs):
    spec = resource["spec"]
    if resource["kind"] in ("StatefulSet", "PodDisruptionBudget"):
        spec.setdefault("selector", {}).setdefault("matchLabels", {}).update(pairs)
    if resource["kind"] == "StatefulSet":
        spec["template"].setdefault("metadata", {}).setdefault("labels", {}).update(pairs)
    if resource["kind"] == "Service":
        spec.setdefault("selector", {}).update(pairs)


def check_kubernetes():
    try:
        import jsonpatch  # noqa: F401
        import kubernetes_validate
        import yaml  # noqa: F401
    except ImportError as error:
        return skipped("Kubernetes manifests", error)
    folders = [HERE / "kubernetes/base", *sorted((HERE / "kubernetes/overlays").iterdir())]
    for folder in folders:
        for resource in resources(folder):
            name = f"{folder.name}: {resource['kind']} {resource['metadata']['name']}"
            if resource["apiVersion"].startswith("monitoring.coreos.com"):
                skipped(name, "its schema is not one of Kubernetes' own")
                continue
            try:
                kubernetes_validate.validate(resource, KUBERNETES, strict=True)
                print(f"valid: {name}")
            except kubernetes_validate.ValidationError as error:
                fault(f"{name}: {error.message}")


def check_unit():
    if not shutil.which("systemd-analyze"):
        return skipped("the unit", "there is no systemd-analyze")
    with tempfile.TemporaryDirectory() as folder:
        unit = pathlib.Path(folder) / "geobucket.service"
        text = (HERE / "systemd/geobucket.service").read_text()
        unit.write_text(text.replace("/usr/local/bin/geobucket", "/bin/true"))
        verify = subprocess.run(
            ["systemd-analyze", "verify", unit], capture_output=True, text=True)
        if verify.returncode or verify.stderr:
            fault(f"systemd-analyze verify: {verify.stderr}")
        security = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", "--threshold=20", unit],
            capture_output=True, text=True)
        print(security.stdout.splitlines()[-1])
        if security.returncode:
            fault("systemd-analyze security: the exposure is above 2.0")


def check_names():
    catalogue = (SOURCES / "HTTPGateway/MetricCatalogue.swift").read_text()
    known = set(re.findall(r'"((?:geobucket|process)_[a-z_]+)"', catalogue))
    dashboard = (HERE / "grafana/dashboards/geobucket.json").read_text()
    json.loads(dashboard)
    used = set(re.findall(r"\b(?:geobucket|process)_[a-z_]+", dashboard))
    for name in sorted(used):
        if re.sub(r"_(bucket|sum|count)$", "", name) not in known and name not in known:
            fault(f"the dashboard asks for {name}, which the service does not have")
    print(f"the dashboard's {len(used)} metric names are the service's")


def check_yaml():
    try:
        import yaml
    except ImportError as error:
        return skipped("YAML files", error)
    for path in sorted(HERE.rglob("*.y*ml")):
        yaml.safe_load(path.read_text())
        print(f"readable: {path.relative_to(HERE)}")


check_yaml()
check_kubernetes()
check_unit()
check_names()
print(f"{len(faults)} faults")
sys.exit(1 if faults else 0)
