"""Executors of Dask: connect to a running cluster, or start one on this machine that only this run can access."""

from __future__ import annotations

import contextlib
import importlib
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from autograder.errors import WorkFailed

_CERTIFICATE = """
[req]
distinguished_name = name
prompt = no
x509_extensions = use
[name]
CN = workers of one grading run
[use]
basicConstraints = critical, CA:TRUE
keyUsage = critical, digitalSignature, keyEncipherment, keyCertSign
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""
_ASKED = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-sha256", "-days", "7", "-config", "asked.cnf")


@contextlib.contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Yield an executor on the workers of a running scheduler; raise WorkFailed if it does not answer."""
    distributed = _distributed()
    try:
        client = distributed.Client(address, timeout=20)
    except (OSError, ValueError) as error:
        # The scheduler may have answered before: after a worker's death a new client connects, and it may be dead too.
        raise WorkFailed(
            f"no Dask scheduler answers at {address} ({type(error).__name__}). Start one with `dask scheduler`, and "
            "workers with `dask worker ADDRESS --nthreads 1`. What was graded is kept: run the command again."
        ) from None
    with client:
        yield client.get_executor(pure=False)


@contextlib.contextmanager
def local_dask_executor(number: int) -> Iterator[Executor]:
    """Start a scheduler and `number` workers on this machine, and yield an executor on them.

    Every account of the machine can connect to the ports, and a scheduler runs any function that it receives. It
    therefore accepts only TLS connections with the key of this run, in a folder that no other account can read.
    """
    distributed, settings = _distributed(), importlib.import_module("dask").config
    with (
        # Dask must not retry work that killed a worker: the next worker would die, with the work of other students.
        settings.set({"distributed.scheduler.allowed-failures": 0, "distributed.worker.preload": [_FIRST]} | _NO_PAGES),
        tempfile.TemporaryDirectory(prefix="dask-") as folder,
        distributed.LocalCluster(
            n_workers=number,
            threads_per_worker=1,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # it listens all the same: on a free local port
            protocol="tls://",
            security=_secret(Path(folder)),
            local_directory=folder,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor(pure=False)


# A worker runs this before it imports any other module of this package.
_FIRST = "from autograder.faster_startup import block_slow_imports\nblock_slow_imports()"
# Dask serves its status pages without asking for the key, even without a dashboard: turn them all off.
_NO_PAGES: dict[str, list[str]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}


def _secret(folder: Path) -> Any:
    """Make a key and its certificate for this run, and return Dask's settings with them.

    Raises WorkFailed without openssl.
    """
    # Dask's own Security.temporary() needs the package cryptography, which nothing else of this package needs.
    (folder / "asked.cnf").write_text(_CERTIFICATE)
    key, certificate = str(folder / "key.pem"), str(folder / "certificate.pem")
    try:
        subprocess.run([*_ASKED, "-keyout", key, "-out", certificate], cwd=folder, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise WorkFailed(
            f"no key could be made for --dask-local ({type(error).__name__}), and without one every account of this "
            "machine could run code in yours. Nothing was graded. Install openssl, or leave the option out: "
            "--workers does the same."
        ) from None
    sides = {f"tls_{side}_{part}": path for side in _SIDES for part, path in (("key", key), ("cert", certificate))}
    return _distributed().Security(tls_ca_file=certificate, require_encryption=True, **sides)


_SIDES = ("client", "scheduler", "worker")


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise WorkFailed(
            "Dask is not installed here, and --scheduler and --dask-local need it. "
            "Run `pip install 'pytorch-basics[cluster]'`, or leave the option out."
        ) from None
    return distributed
