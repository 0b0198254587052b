"""The flags around measurements on llama.cpp's own server: keys, endpoints, pairs, bisections, presets, searches. What
came out is checked, not only that it ended well."""
import glob, os, re, time

import commands, llama_fields, servers
from collected import load

KEY = "sk-" + os.urandom(12).hex()
SMALL = "isl=16,osl=48,c=1,n=12"


class Flags:
    """What was tried on the server, by name, and what was wrong of it."""

    def __init__(self, runs):
        self.runs, self.tried, self.wrong = runs, [], []
        self.command, self.model = servers.llama(runs.work, "acme/tiny"), servers.gguf(runs.work)
        self.env = {name: v for name, v in os.environ.items() if name not in ("OPENAI_API_KEY", "JWT_SECRET")}

    def note(self, name, wrong):
        self.tried.append(name)
        if wrong:
            self.wrong.append(f"{name}: {wrong}")
            print(f"   WRONG: {name}: {wrong}", flush=True)

    def server(self, *more, layers=2):
        """A server's flags: its command, with a port of its own."""
        port = commands.port()
        return ("--server", "command " + " ".join([self.command(port, layers), *more]), "--port", str(port))

    def collect(self, name, server, *more, env=None):
        """Measures and builds, and returns what was collected."""
        kind, command, *port = server[1:]
        return self.runs.collect(f"flags-{name}", command if kind == "--server" else kind, *port, "--only",
                                 "benchmarks", *more, device="cpu", model="acme/tiny", tokenized=False, env=env)
