#!/usr/bin/env python3
"""Runs vLLM's own load client without torch and without the engine.

    vllm_client.py install FOLDER     makes FOLDER/bin/vllm, from PyPI (1 GB instead of 8)
    vllm_client.py bench serve ...    what `vllm bench serve` does; needs the Python of FOLDER

The client is vllm/benchmarks/serve.py as released, unmodified. It imports the vllm package, and with it torch, for
types that it never uses against a server. So the package is entered without its __init__, and torch and the engine's
packages are placeholders: modules whose every attribute is a class that can be called, subscripted and used as a
decorator.
"""
import importlib.abc, importlib.machinery, importlib.metadata, importlib.util, os, subprocess, sys, types

VERSION = "0.33.0"
NEEDS = ("numpy", "aiohttp", "tqdm", "transformers", "tokenizers", "pybase64", "pillow", "psutil", "pyzmq", "urllib3")
ENGINE = ("vllm.lora", "vllm.multimodal", "vllm.inputs", "vllm.config", "vllm.platforms", "vllm.distributed")


class Placeholder(type):
    """A placeholder for any class: its attributes are placeholders, and calling it returns one, or what it
    decorates."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(name, (), {})

    def __call__(cls, *args, **kw):
        if len(args) == 1 and not kw and callable(args[0]) and not isinstance(args[0], Placeholder):
            return args[0]
        return Placeholder(cls.__name__, (), {})

    def __getitem__(cls, _):
        return cls

    def __or__(cls, _):
        return object

    __ror__ = __or__


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports torch and the engine's packages as placeholders."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch" or any(name == e or name.startswith(e + ".") for e in ENGINE):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__getattr__ = lambda name: getattr(Placeholder(spec.name, (), {}), name)
        return module

    def exec_module(self, module):
        pass


def enter_package():
    """Makes the vllm package importable without running its __init__."""
    root = os.path.dirname(importlib.util.find_spec("vllm").origin)
    package = types.ModuleType("vllm")
    package.__path__ = [root]
    package.__spec__ = importlib.machinery.ModuleSpec("vllm", None, is_package=True)
    package.__spec__.submodule_search_locations = [root]
    sys.modules["vllm"] = package


def serve(argv):
    enter_package()
    import transformers.utils  # before the placeholder, so that transformers works without torch, as it can
    real = importlib.metadata.version
    importlib.metadata.version = lambda name: "2.14.0" if name == "torch" else real(name)
    sys.meta_path.insert(0, Finder())
    from vllm.benchmarks.serve import add_cli_args, main
    from vllm.utils.argparse_utils import FlexibleArgumentParser
    parser = FlexibleArgumentParser(prog="vllm bench serve")
    add_cli_args(parser)
    main(parser.parse_args(argv))


def install(folder):
    folder = os.path.abspath(folder)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip, python = f"{folder}/bin/pip", f"{folder}/bin/python"
    subprocess.run([pip, "install", "-q", "--no-deps", f"vllm=={VERSION}"], check=True)
    subprocess.run([pip, "install", "-q", *NEEDS], check=True)
    with open(f"{folder}/bin/vllm", "w") as f:
        f.write(f'#!/bin/sh\nexec "{python}" "{os.path.abspath(__file__)}" "$@"\n')
    os.chmod(f"{folder}/bin/vllm", 0o755)


if __name__ == "__main__":
    if sys.argv[1:2] == ["install"] and len(sys.argv) == 3:
        install(sys.argv[2])
    elif sys.argv[1:] == ["--version"]:
        print(importlib.metadata.version("vllm"))
    elif sys.argv[1:3] == ["bench", "serve"]:
        serve(["--help"] if sys.argv[3:] == ["--help=all"] else sys.argv[3:])
    else:
        sys.exit(__doc__)
