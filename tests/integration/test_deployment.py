"""What is shipped for systemd and for containers, as far as it can be tried without either: the files are well-formed,
and the service works with exactly the rights that they give it."""

import json
import os
import re
import shlex
import subprocess

import yaml

from tests.support.stack import BUILD, ROOT, Stack

UNIT = ROOT / "docker" / "systemd" / "agentsim.service"
COMPOSE = ROOT / "docker" / "compose.yaml"
DOCKERFILE = ROOT / "docker" / "Dockerfile"
GREETER = {"title": "greeter", "model": json.loads((ROOT / "tests/golden/greeter.json").read_text())["model"]}

# Capabilities and no_new_privs of the arguments, and a system that is read-only but for one directory.
CONFINE = """
mount --bind "$1" "$1" && mount -o remount,bind,ro / || exit 99
bounding=$2; shift 2
exec setpriv --bounding-set "$bounding" --no-new-privs "$@"
"""


def unit_settings():
    lines = [l for l in UNIT.read_text().splitlines() if "=" in l and not l.startswith("#")]
    return dict(l.split("=", 1) for l in lines)


def bounding_set(names):
    return ",".join(["-all", *("+" + n.lower().removeprefix("cap_") for n in names)])


def confined(capabilities, **settings):
    stack = Stack(**settings)
    stack.wrapper = ["unshare", "--mount", "--propagation", "slave", "sh", "-c", CONFINE, "confine", stack.dir,
                     bounding_set(capabilities)]
    return stack


def converse(stack):
    session = stack.create(GREETER)
    with stack.talk(session) as talk:
        talk.reply()
    assert stack.end(session).status == 200
    stack.assert_clean()


def has_capabilities_of(pid, names):
    order = ["chown", "dac_override", "dac_read_search", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap",
                    "linux_immutable", "net_bind_service", "net_broadcast", "net_admin", "net_raw", "ipc_lock",
                    "ipc_owner", "sys_module", "sys_rawio", "sys_chroot", "sys_ptrace", "sys_pacct", "sys_admin",
                    "sys_boot", "sys_nice", "sys_resource"]
    status = dict(l.split(":\t", 1) for l in open(f"/proc/{pid}/status").read().splitlines())
    have = int(status["CapBnd"], 16)
    wanted = sum(1 << order.index(n.lower().removeprefix("cap_")) for n in names)
    ours = int(re.search(r"CapBnd:\t(\w+)", open("/proc/self/status").read())[1], 16)  # a container may have less
    assert have == wanted & ours and status["NoNewPrivs"] == "1", status


def test_systemd_takes_the_unit(tmp_path):
    text = UNIT.read_text().replace("/opt/agentsim/bin/", f"{BUILD}/bin/")
    (tmp_path / "agentsim.service").write_text(text)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", tmp_path / "agentsim.service"],
                          capture_output=True, encoding="utf-8")
    assert done.returncode == 0 and not [l for l in done.stderr.splitlines() if "agentsim.service" in l], done.stderr


def test_the_service_works_with_the_rights_of_the_unit():
    settings = unit_settings()
    capabilities = settings["CapabilityBoundingSet"].split()
    assert settings["NoNewPrivileges"] == "yes" and settings["ProtectSystem"] == "strict"
    with confined(capabilities) as stack:
        has_capabilities_of(stack.keeper.pid, capabilities)
        converse(stack)


def test_nothing_in_the_unit_masks_proc_or_namespaces():
    """A masked /proc cannot be mounted anew in a sandbox, and sandboxes are namespaces."""
    settings = unit_settings()
    for name in ("ProtectKernelTunables", "ProtectKernelLogs", "ProtectProc", "ProcSubset", "RestrictNamespaces",
                 "ProtectControlGroups", "PrivateUsers", "MemoryDenyWriteExecute"):
        assert name not in settings, name


def compose():
    return yaml.safe_load(COMPOSE.read_text())["services"]


def test_compose_takes_the_file():
    done = subprocess.run(["docker-compose", "-f", COMPOSE, "config", "--quiet"], capture_output=True, encoding="utf-8",
                          env={**os.environ, "AGENT_SIMULATOR_API_TOKEN": "x"})
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["docker-compose", "-f", COMPOSE, "config", "--quiet"], capture_output=True, encoding="utf-8",
                          env={k: v for k, v in os.environ.items() if k != "AGENT_SIMULATOR_API_TOKEN"})
    assert done.returncode != 0 and "AGENT_SIMULATOR_API_TOKEN" in done.stderr


# Places inside the image, and programs of it.
OF_THE_IMAGE = {"AGENT_SIMULATOR_STATE_DIR", "AGENT_SIMULATOR_RUNTIME_DIR", "AGENT_SIMULATOR_PROGRAM_DIR", "AGENT_SIMULATOR_PYTHON", "NLTK_DATA",
                "AGENT_SIMULATOR_USER", "AGENT_SIMULATOR_WEB_GROUP", "AGENT_SIMULATOR_NGINX", "AGENT_SIMULATOR_NGINX_CONF"}


def test_every_setting_reaches_the_container(tmp_path):
    printed = subprocess.run([BUILD / "bin" / "agentsim", "config"], capture_output=True, encoding="utf-8", check=True).stdout
    settings = {line.split()[0] for line in printed.splitlines()} - OF_THE_IMAGE
    passed = {row.partition("=")[0] for row in compose()["agentsim"]["environment"]}
    assert passed == settings | {"https_proxy", "no_proxy"}
    (tmp_path / "env").write_text("AGENT_SIMULATOR_API_TOKEN=x\nAGENT_SIMULATOR_EGRESS=none\n")
    done = subprocess.run(["docker-compose", "-f", COMPOSE, "--env-file", tmp_path / "env", "config"], capture_output=True,
                          encoding="utf-8", env={"PATH": os.environ["PATH"], "AGENT_SIMULATOR_WORKERS": "3"})
    environment = yaml.safe_load(done.stdout)["services"]["agentsim"]["environment"]
    assert {name: value for name, value in environment.items() if value is not None} == {
        "AGENT_SIMULATOR_API_TOKEN": "x", "AGENT_SIMULATOR_EGRESS": "none", "AGENT_SIMULATOR_WORKERS": "3"}


def test_containers_get_no_more_than_they_need():
    services = compose()
    for service in services.values():
        assert service["cap_drop"] == ["ALL"] and not service.get("privileged")
        assert "no-new-privileges:true" in service["security_opt"] and "healthcheck" in service
        assert not [v for v in service["volumes"] if v.startswith("/")], "no directory of the host"
    assert set(services["agentsim"]["cap_add"]) == {"SETUID", "SETGID", "KILL", "CHOWN", "DAC_OVERRIDE"}
    assert set(services["nginx"]["cap_add"]) < set(services["agentsim"]["cap_add"])
    assert services["nginx"]["read_only"] is True
    assert all(p.startswith("127.0.0.1:") for p in services["nginx"]["ports"])
    assert "ports" not in services["agentsim"]


def test_the_service_works_with_the_rights_of_the_container():
    capabilities = compose()["agentsim"]["cap_add"]
    with confined(capabilities) as stack:
        has_capabilities_of(stack.keeper.pid, capabilities)
        converse(stack)


def instructions():
    text = re.sub(r"\\\n", " ", DOCKERFILE.read_text())
    return [l.split(None, 1) for l in text.splitlines() if l.strip() and not l.startswith("#")]


def test_the_image_is_made_of_what_is_there():
    stages, health = [], False
    for word, rest in instructions():
        if word == "FROM":
            stages.append(rest)
            assert re.match(r"debian:12-slim( AS \w+)?$", rest), "the one system that is supported, by its version"
        elif word == "COPY":
            assert rest.startswith("--from=build /opt/agentsim ") or (ROOT / rest.split()[0]).exists(), rest
        elif word == "RUN":
            for script in re.findall(r"\S+\.sh", rest):
                assert os.access(ROOT / re.sub(r"^/tmp/install", "docker/install", script), os.X_OK), script
            assert "curl" not in rest and "apt-get" not in rest, "packages.sh knows what is needed, and why"
        elif word in ("ENTRYPOINT", "CMD"):
            assert isinstance(json.loads(rest), list), "no shell in between, or signals are lost"
        elif word == "HEALTHCHECK":
            health = True
            assert isinstance(json.loads(rest.partition(" CMD ")[2]), list)
        else:
            assert word in ("WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL"), word
    assert len(stages) == 2 and health


def test_every_folder_the_build_reads_is_in_the_image():
    copied = {rest.split()[0] for word, rest in instructions() if word == "COPY"}
    rooms = {p.split("/")[0] for p in subprocess.run(["git", "ls-files", "*.c", "nginx", "docs"], cwd=ROOT, check=True,
                                                     capture_output=True, encoding="utf-8").stdout.split()}
    assert rooms - {"tests"} <= copied


def test_the_entrypoint_wants_a_token_and_runs_other_commands(tmp_path):
    script = ROOT / "docker" / "entrypoint.sh"
    env = {"PATH": os.environ["PATH"]}
    # A machine with a service of its own has a token there.
    nowhere = ["unshare", "--mount", "sh", "-c", 'mkdir -p /etc/agentsim; mount -t tmpfs t /etc/agentsim && exec "$@"', "sh"]
    done = subprocess.run([*nowhere, script, "service"], env=env, timeout=30, capture_output=True, encoding="utf-8")
    assert done.returncode == 2 and "AGENT_SIMULATOR_API_TOKEN" in done.stderr
    done = subprocess.run([script, "echo", shlex.quote("x")], env=env, capture_output=True, encoding="utf-8")
    assert done.stdout == "x\n"
