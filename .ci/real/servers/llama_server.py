#!/usr/bin/env python3
"""Starts llama.cpp's own HTTP server, from the wheel xllamacpp: llama_server.py MODEL.gguf PORT NAME [rank]

With rank it ranks documents instead of generating."""
import signal, sys, threading

import xllamacpp

model, port, name = sys.argv[1:4]
params = xllamacpp.CommonParams()
params.model.path, params.model_alias = model, {name}
params.hostnames, params.port = ["127.0.0.1"], int(port)
params.n_parallel, params.n_ctx = 4, 16384
params.endpoint_metrics = True
params.warmup = False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
if sys.argv[4:] == ["rank"]:
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
server = xllamacpp.Server(params)
print("listening on", server.listening_address, flush=True)
stop = threading.Event()
for s in (signal.SIGTERM, signal.SIGINT):
    signal.signal(s, lambda *_: stop.set())
while not stop.wait(.5):
    pass
