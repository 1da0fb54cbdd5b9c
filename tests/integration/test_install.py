"""The installation says in one sentence what is missing and what to do, and never leaves half of something."""
import os
import pathlib
import shutil
import socket
import subprocess
import textwrap

import pytest

from tests.support.stack import BUILD, free_port, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTALL = ROOT / "docker" / "install"
NOBODY = 65534


def run(*command, **how):
    how.setdefault("timeout", 300)
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **how)


def unprivileged(*command, **how):
    return run(*command, user=NOBODY, group=NOBODY, extra_groups=[], **how)


@pytest.fixture
def copy(tmp_path):
    """docker/ by itself, so that a test may change its lists."""
    for folder in [tmp_path, *tmp_path.parents][:4]:
        folder.chmod(folder.stat().st_mode | 0o011)
    shutil.copytree(ROOT / "docker", tmp_path / "docker")
    return tmp_path / "docker" / "install"


def lacking(copy):
    """One group whose package is not installed anywhere."""
    (copy / "packages.txt").write_text("run  no-such-package-of-ours  for the test\n")
    return copy / "packages.sh"


def test_what_is_there_needs_neither_root_nor_network():
    for script, *groups in (["packages.sh", "build", "run", "test"], ["runtime.sh"]):
        done = unprivileged("unshare", "--user", "--net", INSTALL / script, *groups)
        assert (done.returncode, done.stderr) == (0, ""), script
        assert done.stdout.strip().endswith("ready")


def test_the_tests_environment_is_ready_at_once():
    done = run("unshare", "--net", INSTALL / "testenv.sh")
    assert (done.returncode, done.stdout) == (0, "== testenv: ready\n")


def test_an_unknown_group_is_named():
    done = run(INSTALL / "packages.sh", "nothing")
    assert done.returncode == 1 and "no group 'nothing'" in done.stderr


def test_only_root_installs_packages(copy):
    done = unprivileged(lacking(copy), "run")
    assert done.returncode == 1
    assert done.stderr == ("agentsim: packages are missing (no-such-package-of-ours) and only root can install them: "
                           "run this as root\n")


def test_another_system_is_refused(copy, tmp_path):
    (tmp_path / "os-release").write_text('ID=debian\nVERSION_ID="13"\n')
    done = run("unshare", "--mount", "bash", "-c", 'mount --bind "$1" "$(readlink -f /etc/os-release)"; exec "$2" run',
               "test", tmp_path / "os-release", lacking(copy))
    assert done.returncode == 1
    assert done.stderr.startswith("agentsim: this is not Debian 12") and "no-such-package-of-ours" in done.stderr


def test_without_network_the_archive_is_named_and_services_may_start_again(copy):
    policy = pathlib.Path("/usr/sbin/policy-rc.d")
    before = policy.read_bytes() if policy.exists() else None
    done = run("unshare", "--net", "--mount", "bash", "-c",
               # the lists of packages are private too: what is there must survive the attempt
               'mount -t tmpfs none /var/lib/apt/lists; exec "$1" run', "test", lacking(copy), timeout=300)
    assert done.returncode == 1
    assert "agentsim: cannot reach the package archive: " in done.stderr and done.stderr.count("\n") == 1
    assert (policy.read_bytes() if policy.exists() else None) == before


def test_a_runtime_that_could_not_be_finished_is_not_put_in_force(copy, tmp_path):
    prefix = tmp_path / "prefix"
    env = os.environ | {"AGENTSIM_PREFIX": str(prefix), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}
    for _attempt in range(2):  # the second finds the remains of the first
        done = run(copy / "runtime.sh", env=env)
        assert done.returncode == 1
        assert "is the Python package index reachable?" in done.stderr.splitlines()[-1]
        assert not (prefix / "runtime").exists()
        assert list(prefix.glob("runtimes/*/complete")) == []


@pytest.mark.parametrize("options, script, said", [
    ("ro", "install.sh", "cannot write to /mnt/prefix/bin: Read-only file system"),
    ("ro", "runtime.sh", "cannot write to /mnt/prefix/runtimes: Read-only file system"),
    ("size=100m", "room.sh", "the agents' interpreter takes 850 MiB in /mnt/prefix, where 100 MiB are free: make room and try again"),
])
def test_a_disk_that_takes_nothing_is_named(options, script, said):
    words = {"install.sh": [BUILD, "/mnt/prefix"]}.get(script, [])
    done = run("unshare", "--mount", "bash", "-c", 'mount -t tmpfs -o "$0" none /mnt; exec "$@"', options, INSTALL / script, *words,
               env=os.environ | {"AGENTSIM_PREFIX": "/mnt/prefix"})
    assert done.returncode == 1 and done.stderr.splitlines()[-1].startswith(f"agentsim: {said}")


@pytest.mark.parametrize("options, fault, said", [
    ("size=16k", "", "agentsim: the disk of /mnt/b/obj/shared/base is full: make room and try again"),
    ("nr_inodes=6", "", "agentsim: the disk of /mnt/b/obj/shared/base takes no more files (df -i): remove some and try again"),
    ("size=1g", "CPPFLAGS=-DNULL=nonsense(", None),
])
def test_a_build_on_a_full_disk_says_so(options, fault, said):
    done = run("unshare", "--mount", "bash", "-c", 'mount -t tmpfs -o "$0" none /mnt; exec "$@"', options, "make", "-C", ROOT, "B=/mnt/b", "CC=gcc",
               *filter(None, [fault]), "/mnt/b/obj/shared/base/buf.o")
    told = [line for line in done.stderr.splitlines() if line.startswith("agentsim: ")]
    assert done.returncode == 2 and told == ([said] if said else []), done.stderr


@pytest.mark.parametrize("last_words, said", [
    ("OSError: [Errno 28] No space left on device", "the disk is full: make room and try again"),
    ("E: You don't have enough free space in /var/cache/apt/archives/.", "the disk is full: make room and try again"),
    ("E: no such thing", "it could not be fetched"),
])
def test_a_disk_that_fills_up_meanwhile_is_named(tmp_path, last_words, said):
    (tmp_path / "words").write_text(last_words + "\n")
    done = run("bash", "-c", '. "$0/say.sh"; log=$1; logged "it could not be fetched" sh -c "cat $2; exit 1"',
               INSTALL, tmp_path / "log", tmp_path / "words")
    assert done.returncode == 1 and done.stderr.splitlines() == [last_words, f"agentsim: {said} (all output: {tmp_path}/log)"]


def test_a_changed_distribution_is_refused(copy, tmp_path):
    lock = copy.parent / "runtime" / "requirements.lock"
    lock.write_text("six==1.17.0 \\\n    --hash=sha256:" + "0" * 64 + "\n")
    done = run(copy / "runtime.sh", env=os.environ | {"AGENTSIM_PREFIX": str(tmp_path / "prefix")})
    assert done.returncode == 1 and not (tmp_path / "prefix" / "runtime").exists()


def test_only_root_installs_the_runtime(tmp_path):
    done = unprivileged(INSTALL / "runtime.sh", env=os.environ | {"AGENTSIM_PREFIX": "/opt/agentsim-of-the-test"})
    assert done.returncode == 1 and done.stderr.endswith("which needs root: run this as root\n")


def test_nginx_can_go_without_an_access_log():
    done = run(ROOT / "nginx" / "render.sh", "-", env=os.environ | {"ACCESS_LOG": "off"})
    assert (done.returncode, done.stderr) == (0, "") and "\n    access_log off;\n" in done.stdout
    assert "access_log /tmp/a.log agentsim;" in run(ROOT / "nginx" / "render.sh", "-", env=os.environ | {
        "ACCESS_LOG": "/tmp/a.log"}).stdout


# A stand-in for the keeper: starts nginx with a configuration that answers like the service.
KEEPER = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pid_t nginx;
static void stop(int s) { (void)s; kill(nginx, SIGTERM); waitpid(nginx, NULL, 0); _exit(0); }
int main(void)
{
    FILE *f = fopen(RUN "/keeper.pid", "w");
    if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f) != 0)
        return 4;
    if (getenv("AGENTSIM_TEST_DIES")) { fprintf(stderr, "no, thank you\n"); return 3; }
    signal(SIGTERM, getenv("AGENTSIM_TEST_DEAF") ? SIG_IGN : stop);
    if ((nginx = fork()) == 0)
        execl("/usr/sbin/nginx", "nginx", "-c", PREFIX "/nginx/agentsim.conf", "-g", "daemon off;", (char *)0);
    for (;;)
        pause();
}
"""
NGINX = """
user www-data; pid %(prefix)s/nginx.pid; error_log stderr; events {}
http {
    access_log off;
    include %(prefix)s/nginx/local/http-*.conf;
    server {
        listen 127.0.0.1:%(public)d default_server;
        location / { return 200 '{"status":"ok"}'; }
    }
    server {
        listen 127.0.0.1:%(internal)d default_server;
        location / { return 200 '{"sandbox":"%(sandbox)s"}'; }
    }
}
"""


class Service:
    """up.sh and down.sh with places and ports of their own."""

    def __init__(self, folder):
        self.prefix = folder / "prefix"
        self.public, self.internal = free_port(), free_port()
        (self.prefix / "bin").mkdir(parents=True)
        (self.prefix / "nginx").mkdir()
        (self.prefix / "build-id").write_text("1\n")
        (folder / "keeper.c").write_text(KEEPER)
        subprocess.run(["gcc", f'-DPREFIX="{self.prefix}"', f'-DRUN="{folder}/run"', "-o", self.prefix / "bin" / "agentsim-keeper",
                        folder / "keeper.c"], check=True)
        (self.prefix / "bin" / "agentsim").symlink_to(BUILD / "bin" / "agentsim")
        self.configure()
        self.env = os.environ | {
            "AGENTSIM_PREFIX": str(self.prefix), "AGENT_SIMULATOR_API_TOKEN": "for tests",
            "AGENTSIM_SETTINGS": str(folder / "etc" / "agentsim.yaml"), "AGENTSIM_LOG": str(folder / "log" / "agentsim.log"),
            "AGENT_SIMULATOR_RUNTIME_DIR": str(folder / "run"), "AGENT_SIMULATOR_STATE_DIR": str(folder / "state"),
        }

    def configure(self, sandbox="ok"):
        (self.prefix / "nginx" / "agentsim.conf").write_text(textwrap.dedent(NGINX) % {
            "prefix": self.prefix, "public": self.public, "internal": self.internal, "sandbox": sandbox})

    def up(self, **env):
        return run(INSTALL / "up.sh", env=self.env | env)

    def down(self):
        return run(INSTALL / "down.sh", env=self.env)

    def processes(self):
        return run("pgrep", "-f", self.prefix).stdout.split()


@pytest.fixture
def service(tmp_path):
    it = Service(tmp_path)
    yield it
    it.down()


def test_up_starts_and_says_where_and_down_leaves_nothing(service):
    done = service.up()
    assert done.returncode == 0, done.stderr
    assert f"agentsim is running: http://127.0.0.1:{service.public}\n" in done.stdout
    assert f"agentsim chat --url http://127.0.0.1:{service.public} docs/examples/" in done.stdout
    assert "make down" in done.stdout
    assert "sign-in is off" in done.stdout
    done = service.down()
    assert (done.returncode, done.stdout) == (0, "== stop agentsim\n== agentsim is stopped\n")
    assert service.processes() == []
    assert not pathlib.Path(service.env["AGENT_SIMULATOR_RUNTIME_DIR"]).exists()
    assert service.down().stdout == "== agentsim is not running\n"


def test_down_removes_no_file_of_others(service):
    assert service.up().returncode == 0
    there = pathlib.Path(service.env["AGENT_SIMULATOR_RUNTIME_DIR"])
    (there / "holders").mkdir()
    (there / "of-others").mkdir()
    (there / "of-others" / "file").write_text("")
    assert service.down().returncode == 0
    assert [entry.name for entry in there.iterdir()] == ["of-others"]


def test_down_spares_a_shell_that_names_our_configuration(service):
    assert service.up().returncode == 0
    words = f"read -r; nginx -c {service.prefix}/nginx/agentsim.conf -s reload"
    with subprocess.Popen(["bash", "-c", words], stdin=subprocess.PIPE) as shell:
        done = service.down()
        alive = shell.poll() is None
        shell.kill()
    assert alive and done.stdout == "== stop agentsim\n== agentsim is stopped\n"


def test_the_service_sees_its_settings_only(service):
    service.up(SOME_SECRET="of the shell", AGENT_SIMULATOR_MAX_SESSIONS="7", LC_TIME="C", https_proxy="http://192.0.2.1:3128")
    pid = (pathlib.Path(service.env["AGENT_SIMULATOR_RUNTIME_DIR"]) / "keeper.pid").read_text().strip()
    environment = pathlib.Path(f"/proc/{pid}/environ").read_text()
    assert "AGENT_SIMULATOR_MAX_SESSIONS=7\0" in environment and "LC_TIME=C\0" in environment
    assert "https_proxy=http://192.0.2.1:3128\0" in environment
    assert "AGENT_SIMULATOR_REQUIRE_AUTH=false\0" in environment and "SOME_SECRET" not in environment


def test_a_second_up_changes_nothing_and_a_new_build_restarts(service):
    assert service.up().returncode == 0
    first = service.processes()
    assert "running already" in service.up().stdout
    assert service.processes() == first
    (service.prefix / "build-id").write_text("2\n")
    assert "restart" in service.up().stdout
    assert set(service.processes()).isdisjoint(first)
    assert "restart" in service.up(AGENT_SIMULATOR_MAX_SESSIONS="7").stdout


def test_up_after_a_killed_keeper_ends_what_was_left(service):
    service.up()
    pid = (pathlib.Path(service.env["AGENT_SIMULATOR_RUNTIME_DIR"]) / "keeper.pid").read_text()
    os.kill(int(pid), 9)
    done = service.up()
    assert done.returncode == 0 and "parts of an earlier run are left" in done.stdout


def test_a_service_that_dies_is_reported_with_its_last_words(service):
    done = service.up(AGENTSIM_TEST_DIES="1")
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "no, thank you" and "agentsim ended at once" in done.stderr
    assert service.processes() == []


def test_a_taken_port_is_explained(service):
    with socket.create_server(("127.0.0.1", service.public)):
        done = service.up()
    assert done.returncode == 1
    assert f"port {service.public} is taken by python" in done.stderr and "PUBLIC_LISTEN=" in done.stderr


def test_a_taken_port_stops_nothing_that_runs(service):
    assert service.up().returncode == 0
    first, before = service.processes(), service.public
    with socket.create_server(("127.0.0.1", 0)) as taken:
        service.public = taken.getsockname()[1]
        service.configure()
        done = service.up(AGENT_SIMULATOR_WORKERS="2")
    assert done.returncode == 1 and f"port {service.public} is taken by python" in done.stderr
    assert service.processes() == first
    service.public = before
    service.configure()
    assert "restart" in service.up(AGENT_SIMULATOR_WORKERS="2").stdout


def test_all_addresses_are_told_as_one_that_a_browser_opens(service):
    conf = service.prefix / "nginx" / "agentsim.conf"
    conf.write_text(conf.read_text().replace(f"127.0.0.1:{service.public}", f"0.0.0.0:{service.public}"))
    done = service.up()
    assert done.returncode == 0, done.stderr
    assert f"agentsim is running: http://127.0.0.1:{service.public}\n" in done.stdout
    assert f"whoever reaches 0.0.0.0:{service.public} may run agents" in done.stdout


def test_a_misspelt_setting_is_told_once(service):
    assert service.up(AGENT_SIMULATOR_WARMPOOL="1").stderr.count("AGENT_SIMULATOR_WARMPOOL") == 1


def test_a_sandbox_that_does_not_work_stops_the_start(service):
    service.configure("unavailable: the kernel refuses")
    done = service.up()
    assert done.returncode == 1 and "agents cannot be confined here: unavailable: the kernel refuses" in done.stderr
    assert service.processes() == []


def test_missing_user_namespaces_are_named_with_the_cure(service):
    # In a user namespace of its own the limit is this test's alone. Root's capabilities there come with
    # the exec after the map is written.
    inner = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$0"'
    with subprocess.Popen(["unshare", "--user", "bash", "-c", 'read -r; exec bash -c "$1" "$0"', INSTALL / "up.sh", inner],
                          env=service.env, text=True, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        own = pathlib.Path(f"/proc/{process.pid}")
        wait_until(lambda: os.readlink(own / "ns/user") != os.readlink("/proc/self/ns/user"), 10, "the namespace is made")
        (own / "uid_map").write_text("0 0 100000")
        (own / "gid_map").write_text("0 0 100000")
        _, errors = process.communicate("\n", timeout=180)
    assert process.returncode == 1
    assert "agents need user namespaces" in errors and "sysctl -w user.max_user_namespaces" in errors


def test_a_first_start_writes_a_token_that_only_the_service_reads(service):
    del service.env["AGENT_SIMULATOR_API_TOKEN"]
    settings = pathlib.Path(service.env["AGENTSIM_SETTINGS"])
    assert service.up().returncode == 0
    name, _, token = settings.read_text().strip().partition(": ")
    assert name == "api_token" and len(token) == 64
    assert settings.stat().st_mode & 0o777 == 0o640 and settings.stat().st_uid == 0
    service.up()
    assert settings.read_text().count("api_token") == 1


@pytest.mark.parametrize("written", ["require_auth: true", "require:\n  auth: yes", "{'require_auth': on}",
                                     "AGENT_SIMULATOR_REQUIRE_AUTH: 1"])
def test_sign_in_stays_on_where_it_was_configured(service, written):
    settings = pathlib.Path(service.env["AGENTSIM_SETTINGS"])
    settings.parent.mkdir()
    settings.write_text(written)
    done = service.up()
    assert (done.returncode, done.stderr) == (0, "")
    assert "agentsim is running" in done.stdout and "sign-in is off" not in done.stdout


def test_a_nested_token_is_a_token(service):
    del service.env["AGENT_SIMULATOR_API_TOKEN"]
    settings = pathlib.Path(service.env["AGENTSIM_SETTINGS"])
    settings.parent.mkdir()
    settings.write_text("api:\n  token: of ours")
    assert service.up().returncode == 0
    assert settings.read_text() == "api:\n  token: of ours"


def test_a_bad_setting_stops_nothing_that_runs(service):
    assert service.up().returncode == 0
    first = service.processes()
    done = service.up(AGENT_SIMULATOR_WORKERS="many")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        'agentsim: environment: AGENT_SIMULATOR_WORKERS is "many"; allowed: a whole number from 1 to 64',
        "agentsim: correct that and run 'make up' again; nothing was stopped or started"]
    assert service.processes() == first


def test_a_bad_row_of_nginx_stops_nothing_that_runs(service):
    assert service.up().returncode == 0
    first = service.processes()
    row = service.prefix / "nginx" / "local" / "http-mine.conf"
    row.parent.mkdir()
    row.write_text("# ours\nno_such_word on;\n")
    done = service.up(AGENT_SIMULATOR_WORKERS="2")
    assert done.returncode == 1
    assert done.stderr == ('agentsim: nginx does not take its configuration: unknown directive "no_such_word" in '
                           f"{row}:2; correct that and run 'make up' again; nothing was stopped or started\n")
    assert service.processes() == first
    row.unlink()
    assert "restart" in service.up(AGENT_SIMULATOR_WORKERS="2").stdout


def test_a_sandbox_without_a_verdict_yet_is_waited_for(service):
    service.configure("unavailable: the launcher has not answered yet")
    with subprocess.Popen([INSTALL / "up.sh"], env=service.env, text=True, stdout=subprocess.PIPE) as process:
        wait_until(lambda: "the sandbox is tested" in process.stdout.readline(), 30, "up.sh waits")
        service.configure("ok")
        run("/usr/sbin/nginx", "-c", service.prefix / "nginx" / "agentsim.conf", "-s", "reload")
        process.communicate(timeout=180)
    assert process.returncode == 0


def test_only_root_starts_and_stops(service):
    for script in ("up.sh", "down.sh"):
        service.up()
        done = unprivileged(INSTALL / script, env=service.env)
        assert done.returncode == 1 and "run this as root" in done.stderr
