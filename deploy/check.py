#!/usr/bin/env python3
"""Checks what is in this folder as far as it can be checked without running it.

    python3 deploy/check.py

Kubernetes manifests, the bases and each overlay with its patches applied, against the published
schemas, and what of them protects a cluster's connections; the Helm chart against them; the units by
systemd-analyze; the configurations of proxies by HAProxy and nginx; metric names in the dashboard and in
alerts against what the service has, and alerts against their runbook; the list of an image's parts, made
for a program of this machine. Needs Debian's systemd for the unit, its haproxy, nginx and
libnginx-mod-stream for the proxies, its jq for the list, its prometheus for the rules of alerts, and the
packages PyYAML, jsonpatch, kubernetes-validate, helm-python-sdk and
cyclonedx-python-lib[json-validation] from PyPI.
What cannot be checked is skipped and said; exit status 3 says that there is such a check, and that the
others found nothing.
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
missing = []


def fault(text):
    faults.append(text)
    print(f"fault: {text}")


def skipped(what, why):
    missing.append(what)
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
    if resource["kind"] in ("Deployment", "StatefulSet", "PodDisruptionBudget"):
        spec.setdefault("selector", {}).setdefault("matchLabels", {}).update(pairs)
    if resource["kind"] in ("Deployment", "StatefulSet"):
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
    kubernetes = HERE / "kubernetes"
    folders = [kubernetes / "base", kubernetes / "cluster", *sorted((kubernetes / "overlays").iterdir())]
    for folder in folders:
        for resource in resources(folder):
            name = f"{folder.name}: {resource['kind']} {resource['metadata']['name']}"
            if resource["apiVersion"].startswith(("monitoring.coreos.com", "postgresql.cnpg.io")):
                print(f"unchecked: {name}: its schema is not one of Kubernetes' own")
                continue
            try:
                kubernetes_validate.validate(resource, KUBERNETES, strict=True)
                print(f"valid: {name}")
            except kubernetes_validate.ValidationError as error:
                fault(f"{name}: {error.message}")


def check_helm():
    """The chart gives what the kustomization gives, which says it a second time."""
    try:
        import helm_python
        import kubernetes_validate
        import yaml
    except ImportError as error:
        return skipped("the Helm chart", error)
    chart = HERE / "helm/geobucket"
    production = yaml.safe_load((chart / "production.yaml").read_text())
    unsafe = {"tokensSecret": "", "web": True, "settings": {"GEOBUCKET_PREFER": "writes"},
              "storage": {"storageClass": "fast"}, "imagePullSecrets": [{"name": "registry"}],
              "backup": {"enabled": True, "storage": {"storageClass": "slow"}}}
    for message in helm_python.lint(chart)["messages"]:
        if message["severity"] > 1:  # 1 only informs
            fault(f"the Helm chart: {message}")
    for name, values, overlay in [
        ("values.yaml", {}, None), ("production.yaml", production, "production"),
        ("production.yaml with the web", {**production, "web": True}, "web"), ("other values", unsafe, None),
    ]:
        rendered = helm_python.Chart.load(chart).render(values=values, name="geobucket")
        found = [resource for text in rendered.values() for resource in yaml.safe_load_all(text) if resource]
        for resource in found:
            try:
                if not resource["apiVersion"].startswith("monitoring.coreos.com"):
                    kubernetes_validate.validate(resource, KUBERNETES, strict=True)
            except kubernetes_validate.ValidationError as error:
                fault(f"the Helm chart with {name}: {resource['kind']}: {error.message}")
        if overlay:
            compare(f"the Helm chart with {name}", found, resources(HERE / "kubernetes/overlays" / overlay))
        print(f"valid: the Helm chart with {name}, {len(found)} resources")


def compare(what, found, expected):
    """Resources have to be the same but for labels, annotations and the image's tag."""
    def essence(resource):
        resource = json.loads(json.dumps(resource).replace('"geobucket:0.1.0"', '"geobucket"'))
        resource["metadata"] = {"name": resource["metadata"]["name"]}
        return resource

    found, expected = [{(one["kind"], one["metadata"]["name"]): essence(one) for one in many}
                       for many in (found, expected)]
    for key in sorted(found.keys() | expected.keys()):
        if found.get(key) != expected.get(key):
            fault(f"{what}: {' '.join(key)} is {found.get(key)}, and by the kustomization {expected.get(key)}")


def check_alerts():
    """Each alert has a section of the runbook, and both kinds of file have the same alerts."""
    import yaml

    groups = yaml.safe_load((HERE / "prometheus/alerts.yaml").read_text())["groups"]
    rule = yaml.safe_load((HERE / "kubernetes/overlays/production/prometheusrule.yaml").read_text())
    if rule["spec"]["groups"] != groups:
        fault("prometheusrule.yaml has other alerts than alerts.yaml")
    runbook = (HERE.parent / "docs/alerts.md").read_text()
    sections = re.findall(r"^### (GeoBucket\w+)$", runbook, re.MULTILINE)
    names = [rule["alert"] for group in groups for rule in group["rules"]]
    if sorted(sections) != sorted(names):
        fault(f"alerts and their runbook differ: {sorted(set(sections) ^ set(names))}")
    check_metrics("an alert", json.dumps(groups))
    if not shutil.which("promtool"):
        return skipped("the rules of alerts", "there is no promtool")
    for command in (["check", "rules", "alerts.yaml"], ["test", "rules", "alerts.test.yaml"]):
        run = subprocess.run(["promtool", *command], cwd=HERE / "prometheus", capture_output=True, text=True)
        if run.returncode:
            fault(f"promtool {' '.join(command)}: {run.stdout}{run.stderr}")
    print(f"valid: {len(names)} alerts, by promtool")


def check_litestream():
    """Both places have the same configuration, and Litestream can read it."""
    import yaml

    path = HERE / "litestream/litestream.yml"
    manifest = yaml.safe_load((HERE / "kubernetes/overlays/litestream/configuration.yaml").read_text())
    if manifest["data"]["litestream.yml"] != path.read_text():
        fault("the ConfigMap of Litestream is not litestream.yml")
    program = pathlib.Path(sys.executable).with_name("litestream")
    if not program.exists():
        return skipped("Litestream's configuration", "there is no litestream")
    run = subprocess.run(
        [program, "databases", "-config", path], capture_output=True, text=True,
        env={"GEOBUCKET_STORE": "/data/store.sqlite", "GEOBUCKET_COPIES": "s3://bucket/store"})
    if run.returncode or not re.search(r"^/data/store.sqlite +s3$", run.stdout, re.MULTILINE):
        fault(f"Litestream's configuration: {run.stdout}{run.stderr}")


def check_compose():
    """A variable that a comment of a compose file advises has to reach a container, or its volumes."""
    import yaml

    for path in HERE.rglob("compose.yaml"):
        text = path.read_text()
        advised = set(re.findall(r"GEOBUCKET_[A-Z_]+", "\n".join(re.findall(r"#.*", text))))
        services = yaml.safe_load(text)["services"].values()
        passed = set(re.findall(r"GEOBUCKET_[A-Z_]+", json.dumps(
            [service.get(part, []) for service in services for part in ("environment", "volumes")])))
        if lost := advised - passed:
            fault(f"{path.relative_to(HERE)}: {', '.join(lost)} reaches no container")


def check_secrecy():
    """Nodes of a cluster use TLS towards clients, each other and PostgreSQL, and call nobody else."""
    try:
        import jsonpatch  # noqa: F401
        import yaml  # noqa: F401
    except ImportError as error:
        return skipped("TLS in a cluster", error)
    for folder in sorted((HERE / "kubernetes/overlays").glob("cluster*")):
        found = {resource["kind"]: resource for resource in resources(folder)}
        node = found["Deployment"]["spec"]["template"]["spec"]["containers"][0]
        variables = {entry["name"]: entry.get("value") for entry in node["env"]}
        if not {"--tls-certificate", "--tls-key", "--tokens"} <= set(node["args"]):
            fault(f"{folder.name}: clients and nodes come without TLS or tokens")
        if variables.get("PGSSLMODE") != "verify-full" or not variables.get("PGSSLROOTCERT"):
            fault(f"{folder.name}: PostgreSQL's certificate is not verified")
        for rule in found["NetworkPolicy"]["spec"]["egress"]:
            peers = rule.get("to", [])
            if not peers or any(not any(selector for selector in peer.values()) for peer in peers):
                fault(f"{folder.name}: the nodes may call anybody at {rule['ports']}")
        print(f"secret: {folder.relative_to(HERE)}")
    texts = [path for path in HERE.parent.glob("docs/*.md")] + [
        path for path in HERE.rglob("*") if path.suffix in (".yaml", ".yml", ".cfg", ".conf")]
    for path in texts:
        for mode in re.findall(r"sslmode=([a-z-]+)", path.read_text()):
            if mode != "verify-full":
                fault(f"{path.relative_to(HERE.parent)}: sslmode={mode}")


def check_units():
    if not shutil.which("systemd-analyze"):
        return skipped("the units", "there is no systemd-analyze")
    for path in (HERE / "systemd/geobucket.service", HERE / "litestream/litestream.service"):
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder) / path.name
            unit.write_text(re.sub(r"/usr/local/bin/\w+", "/bin/true", path.read_text()))
            verify = subprocess.run(
                ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
            if verify.returncode or verify.stderr:
                fault(f"systemd-analyze verify: {verify.stderr}")
            security = subprocess.run(
                ["systemd-analyze", "security", "--offline=true", "--threshold=20", unit],
                capture_output=True, text=True)
            print(security.stdout.splitlines()[-1])
            if security.returncode:
                fault(f"systemd-analyze security: the exposure of {path.name} is above 2.0")
    # What the service's threads do beside @system-service, at the least.
    if "setpriority" not in allowed_calls((HERE / "systemd/geobucket.service").read_text()):
        fault("the unit forbids setpriority, so threads have no priorities")


def allowed_calls(unit):
    """The system calls that the lines SystemCallFilter= of a unit allow, the first of which allows."""
    def members(name):
        if not name.startswith("@"):
            return {name}
        listing = subprocess.run(
            ["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True).stdout
        lines = [line.strip() for line in listing.splitlines()[1:]]
        return {call for line in lines if line and line[0] != "#" for call in members(line)}

    calls = set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", unit, re.MULTILINE):
        named = set().union(*map(members, line.removeprefix("~").split()))
        calls = calls - named if line.startswith("~") else calls | named
    return calls


def check_proxies():
    """The configurations of proxies, with a certificate made for the check in place of theirs."""
    with tempfile.TemporaryDirectory() as folder:
        certificate = pathlib.Path(folder) / "geobucket.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
             "-nodes", "-keyout", certificate, "-out", f"{folder}/own.pem", "-subj", "/CN=localhost"],
            check=True, capture_output=True)
        with open(certificate, "a") as both:
            both.write(pathlib.Path(folder, "own.pem").read_text())
        for path, command in [
            ("cluster/haproxy.cfg", ["haproxy", "-c", "-q", "-f"]),
            ("proxies/haproxy.cfg", ["haproxy", "-c", "-q", "-f"]),
            ("proxies/nginx.conf", ["nginx", "-t", "-q", "-g", f"pid {folder}/nginx.pid;", "-c"]),
        ]:
            if not shutil.which(command[0]):
                skipped(path, f"there is no {command[0]}")
                continue
            configuration = pathlib.Path(folder) / pathlib.Path(path).name
            text = (HERE / path).read_text()
            configuration.write_text(text.replace("/etc/geobucket-proxy/geobucket.pem", str(certificate)))
            run = subprocess.run([*command, configuration], capture_output=True, text=True)
            if run.returncode or run.stderr:
                fault(f"{path}: {run.stderr}")
            else:
                print(f"valid: {path}")


def check_metrics(what, text):
    """The number of names of metrics that a text has, each of which the service has to have."""
    catalogue = (SOURCES / "Service/HTTPGateway/MetricCatalogue.swift").read_text()
    known = set(re.findall(r'"((?:geobucket|process)_[a-z_]+)"', catalogue))
    used = set(re.findall(r"\b(?:geobucket|process)_[a-z_]+", text))
    for name in sorted(used):
        if re.sub(r"_(bucket|sum|count)$", "", name) not in known and name not in known:
            fault(f"{what} asks for {name}, which the service does not have")
    return len(used)


def check_names():
    dashboard = (HERE / "grafana/dashboards/geobucket.json").read_text()
    json.loads(dashboard)
    count = check_metrics("the dashboard", dashboard)
    print(f"the dashboard's {count} metric names are the service's")


RESOLVED = {
    "version": 3,
    "pins": [
        {"identity": "swift-log", "location": "https://github.com/apple/swift-log.git",
         "state": {"revision": "a" * 40, "version": "1.2.3"}},
        {"identity": "branched", "location": "https://example.org/branched",
         "state": {"revision": "b" * 40, "branch": "main"}},
    ],
}


def check_parts():
    """The list of parts and the labels that deploy/sbom.sh makes of a program and its pins."""
    if not all(map(shutil.which, ("jq", "ldd", "dpkg-query"))):
        return skipped("the list of parts", "it needs jq, ldd and dpkg-query")
    script = ["sh", str(HERE / "sbom.sh")]
    with tempfile.TemporaryDirectory() as folder:
        resolved, made = pathlib.Path(folder) / "Package.resolved", pathlib.Path(folder) / "list"
        resolved.write_text(json.dumps(RESOLVED))
        arguments = ["/bin/ls", "1.0", str(resolved), "swift-6.3"]
        texts = [
            subprocess.run(script + arguments, capture_output=True, text=True, check=True).stdout
            for _ in range(2)
        ]
        made.write_text(texts[0])
        labels = subprocess.run(
            script + ["--labels", str(made)], capture_output=True, text=True, check=True).stdout
    if texts[0] != texts[1]:
        fault("the list of parts is another one the second time")
    urls = [part.get("purl", "") for part in json.loads(texts[0])["components"]]
    expected = ["pkg:swift/github.com/apple/swift-log@1.2.3", "pkg:swift/example.org/branched@main"]
    if urls[:2] != expected or not any(url.startswith("pkg:deb/debian/libc6@") for url in urls):
        fault(f"the list of parts has {urls}")
    for label in ("org.opencontainers.image.version=1.0", "geobucket.swift=swift-6.3",
                  "geobucket.packages=swift-log 1.2.3, branched main"):
        if label not in labels.splitlines():
            fault(f"no label {label} in {labels}")
    if "libc6 " not in labels:
        fault(f"no library in {labels}")
    try:
        from cyclonedx.schema import SchemaVersion
        from cyclonedx.validation.json import JsonStrictValidator
    except ImportError as error:
        return skipped("the schema of the list of parts", error)
    error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(texts[0])
    if error:
        fault(f"the list of parts is no CycloneDX 1.5: {error}")
    print(f"the list of parts is CycloneDX 1.5, with {len(urls)} parts")


def check_yaml():
    try:
        import yaml
    except ImportError as error:
        return skipped("YAML files", error)
    for path in sorted(HERE.rglob("*.y*ml")):
        if "templates" in path.parts:
            continue  # Helm makes YAML of it.
        list(yaml.safe_load_all(path.read_text()))
        print(f"readable: {path.relative_to(HERE)}")


check_yaml()
check_kubernetes()
check_helm()
check_alerts()
check_litestream()
check_compose()
check_secrecy()
check_units()
check_proxies()
check_names()
check_parts()
if faults or not missing:
    print(f"{len(faults)} faults")
if missing:
    print(f"skipped: {', '.join(missing)}")
sys.exit(1 if faults else 3 if missing else 0)
