#!/usr/bin/env python3
"""Writes a tiny Llama with random weights as GGUF, for llama.cpp: tiny_gguf.py OUT.gguf [LAYERS [LIKED]]. Needs
gguf and numpy.

What it answers is noise of ASCII; it loads, tokenizes and generates as a large model does, more slowly the more layers
it has.
"""
import sys

import gguf
import numpy as np

LAYERS = int(sys.argv[2]) if sys.argv[2:] else 2
LIKED = sys.argv[3] if sys.argv[3:] else ""
EMBEDDING, HEADS, FEED_FORWARD, CONTEXT = 64, 4, 128, 8192
SPACE = "\u0120"  # how the vocabulary of GPT-2 writes a space
PAIRS = ["th", "in", "er", "an", "on", "re", "at", "en", "es", "or", *(SPACE + c for c in "taosw")]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")


def byte_tokens():
    """GPT-2's letter for each byte: printable ones are themselves, the others letters from U+0100 on."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(b if b in plain else next(others)) for b in range(256)]


def metadata(w, tokens):
    w.add_name("tiny-random")
    w.add_block_count(LAYERS)
    w.add_context_length(CONTEXT)
    w.add_embedding_length(EMBEDDING)
    w.add_feed_forward_length(FEED_FORWARD)
    w.add_head_count(HEADS)
    w.add_head_count_kv(HEADS)
    w.add_rope_dimension_count(EMBEDDING // HEADS)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_vocab_size(len(tokens) + len(SPECIAL))
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("gpt-2")
    w.add_token_list(tokens + SPECIAL)
    w.add_token_types([gguf.TokenType.NORMAL] * len(tokens) + [gguf.TokenType.CONTROL] * len(SPECIAL))
    w.add_token_merges([f"{p[0]} {p[1]}" for p in PAIRS])
    w.add_bos_token_id(len(tokens))
    w.add_eos_token_id(len(tokens) + 2)
    w.add_add_bos_token(False)
    w.add_chat_template(TEMPLATE)


def weights(w, vocabulary):
    rng = np.random.default_rng(0)

    def drawn(*shape):
        return (rng.standard_normal(shape) * .05).astype(np.float32)

    embedding = drawn(vocabulary, EMBEDDING)
    if LIKED:
        embedding[:, 0] = 1  # and no layer adds to it
    w.add_tensor("token_embd.weight", embedding)
    output = drawn(vocabulary, EMBEDDING)
    # Never the best of so many: half a letter and a token that only steers would be no text of a stream.
    output[[*range(32), *range(127, 256), *range(vocabulary - len(SPECIAL), vocabulary)]] = 0
    if LIKED:
        output[ord(LIKED), 0] = 9
    w.add_tensor("output.weight", output)
    w.add_tensor("output_norm.weight", np.ones(EMBEDDING, np.float32))
    for i in range(LAYERS):
        for norm in ("attn_norm", "ffn_norm"):
            w.add_tensor(f"blk.{i}.{norm}.weight", np.ones(EMBEDDING, np.float32))
        for part, *shape in (("attn_q", EMBEDDING, EMBEDDING), ("attn_k", EMBEDDING, EMBEDDING),
                             ("attn_v", EMBEDDING, EMBEDDING), ("attn_output", EMBEDDING, EMBEDDING),
                             ("ffn_gate", FEED_FORWARD, EMBEDDING), ("ffn_up", FEED_FORWARD, EMBEDDING),
                             ("ffn_down", EMBEDDING, FEED_FORWARD)):
            weight = drawn(*shape)
            if LIKED and part in ("attn_output", "ffn_down"):
                weight[0] = 0
            w.add_tensor(f"blk.{i}.{part}.weight", weight)


writer, tokens = gguf.GGUFWriter(sys.argv[1], "llama"), byte_tokens() + PAIRS
metadata(writer, tokens)
weights(writer, len(tokens) + len(SPECIAL))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
