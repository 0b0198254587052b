#!/usr/bin/env python3
"""Starts llama.cpp's own HTTP server, from the wheel xllamacpp."""
import argparse, signal, threading

import xllamacpp

# Its generation begins with reasoning, whose end the server writes when the budget is used up.
THINKS = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.reasoning_content %}<think>\n"
          "{{ m.reasoning_content }}\n</think>\n\n{% endif %}{{ m.content }}<|im_end|>\n{% endfor %}"
          "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n"
          "{% if enable_thinking is defined and not enable_thinking %}\n</think>\n\n{% endif %}{% endif %}")
# A call of a function is a line of JSON, of which llama.cpp makes its grammar; any text may come before its brace.
CALLS = ("{% for t in tools or [] %}<|im_start|>system\n{{ t | tojson }}<|im_end|>\n{% endfor %}"
         "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content or '' }}{% for c in m.tool_calls or [] %}"
         '{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}{% endfor %}'
         "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")

ap = argparse.ArgumentParser(description=__doc__)
ap.add_argument("model", help="file in GGUF")
ap.add_argument("port", type=int)
ap.add_argument("name", help="of the model as it is served")
ap.add_argument("--rank", action="store_true", help="rank documents instead of generating")
ap.add_argument("--embed", action="store_true", help="return embeddings as well")
ap.add_argument("--api-key", metavar="KEY", help="that requests need")
ap.add_argument("--think", type=int, metavar="TOKENS", help="tokens of reasoning before an answer of chat")
ap.add_argument("--calls", action="store_true", help="take a template that offers functions")
ap.add_argument("--pictures", metavar="FILE", help="projector of pictures, in GGUF")
ap.add_argument("--slots", type=int, default=4, help="requests at once, which share 16,384 tokens")
ap.add_argument("--forget", action="store_true", help="keep no earlier prompts: looking through thousands takes time")
ap.add_argument("--draft", metavar="FILE", help="model in GGUF that drafts tokens")
of = ap.parse_args()

params = xllamacpp.CommonParams()
params.model.path, params.model_alias = of.model, {of.name}
params.hostnames, params.port = ["127.0.0.1"], of.port
params.n_parallel, params.n_ctx = of.slots, 16384
params.endpoint_metrics = True
params.warmup = False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
if of.forget:
    params.cache_ram_mib = 0
if of.draft:
    params.speculative.draft.mparams.path = of.draft
    params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
if of.rank:
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
if of.embed:
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
if of.api_key:
    params.api_keys = [of.api_key]
if of.think:
    params.chat_template = THINKS
    params.enable_reasoning, params.sampling.reasoning_budget_tokens = 1, of.think
if of.calls:
    params.chat_template = CALLS
if of.pictures:
    params.mmproj.path = of.pictures
server = xllamacpp.Server(params)
print("listening on", server.listening_address, flush=True)
stop = threading.Event()
for s in (signal.SIGTERM, signal.SIGINT):
    signal.signal(s, lambda *_: stop.set())
while not stop.wait(.5):
    pass
