#!/usr/bin/env python3
"""Writes a tiny projector of pictures with random weights as GGUF, for llama.cpp and a model of tiny_gguf.py:
tiny_projector.py OUT.gguf. A picture of 64 × 64 pixels is 16 tokens."""
import sys

import gguf
import numpy as np

SIZE, PATCH, WIDTH, LAYERS, HEADS, EMBEDDING = 64, 16, 32, 2, 2, 64
NUMBERS = {"image_size": SIZE, "patch_size": PATCH, "embedding_length": WIDTH, "feed_forward_length": 2 * WIDTH,
           "block_count": LAYERS, "projection_dim": EMBEDDING, "attention.head_count": HEADS}


def metadata(w):
    w.add_bool("clip.has_vision_encoder", True)
    w.add_string("clip.projector_type", "mlp")
    w.add_bool("clip.use_gelu", True)
    for name, v in NUMBERS.items():
        w.add_uint32(f"clip.vision.{name}", v)
    w.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-5)
    for name in ("image_mean", "image_std"):
        w.add_array(f"clip.vision.{name}", [.5, .5, .5])


def weights(w):
    rng = np.random.default_rng(0)

    def random(name, *shape):
        w.add_tensor(name, (rng.standard_normal(shape) * .05).astype(np.float32))

    def linear(name, out, into):
        random(f"{name}.weight", out, into)
        random(f"{name}.bias", out)

    def norm(name):
        w.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
        w.add_tensor(f"{name}.bias", np.zeros(WIDTH, np.float32))

    random("v.class_embd", WIDTH)
    random("v.patch_embd.weight", WIDTH, 3, PATCH, PATCH)
    random("v.position_embd.weight", (SIZE // PATCH) ** 2 + 1, WIDTH)
    norm("v.pre_ln")
    for i in range(LAYERS):
        for part in ("attn_q", "attn_k", "attn_v", "attn_out"):
            linear(f"v.blk.{i}.{part}", WIDTH, WIDTH)
        norm(f"v.blk.{i}.ln1")
        norm(f"v.blk.{i}.ln2")
        linear(f"v.blk.{i}.ffn_up", 2 * WIDTH, WIDTH)
        linear(f"v.blk.{i}.ffn_down", WIDTH, 2 * WIDTH)
    linear("mm.0", EMBEDDING, WIDTH)
    linear("mm.2", EMBEDDING, EMBEDDING)


writer = gguf.GGUFWriter(sys.argv[1], "clip")
metadata(writer)
weights(writer)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
