#!/usr/bin/env python3
"""Writes a tiny Llama with random weights as a Hugging Face folder, for vLLM: tiny_hf.py FOLDER

Needs numpy, safetensors and tokenizers.
"""
import json, os, sys

import numpy as np
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

# vLLM on a CPU requires heads of 32 or more.
VOCABULARY, HIDDEN, FEED_FORWARD, LAYERS, HEADS, CONTEXT = 320, 128, 256, 2, 4, 4096
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = ("{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")


def tokenizer(folder):
    """One token a byte."""
    tokens = SPECIAL + sorted(pre_tokenizers.ByteLevel.alphabet())
    t = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=[]))
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    t.add_special_tokens([AddedToken(s, special=True) for s in SPECIAL])
    t.save(f"{folder}/tokenizer.json")
    write(f"{folder}/tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": SPECIAL[0], "pad_token": SPECIAL[0],
        "eos_token": SPECIAL[2],
        "model_max_length": CONTEXT, "chat_template": TEMPLATE, "clean_up_tokenization_spaces": False})


def config(folder):
    ends = {"bos_token_id": 0, "eos_token_id": 2, "pad_token_id": 0}
    write(f"{folder}/generation_config.json", {**ends, "do_sample": True})
    write(f"{folder}/config.json", {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": VOCABULARY, "hidden_size": HIDDEN,
        "intermediate_size": FEED_FORWARD, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "head_dim": HIDDEN // HEADS, "hidden_act": "silu", "max_position_embeddings": CONTEXT, "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0, "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False,
        "torch_dtype": "float32",
        **ends})


def weights(folder):
    rng = np.random.default_rng(0)

    def random(*shape):
        return (rng.standard_normal(shape) * .05).astype(np.float32)

    ones = np.ones(HIDDEN, np.float32)
    tensors = {"model.embed_tokens.weight": random(VOCABULARY, HIDDEN), "lm_head.weight": random(VOCABULARY, HIDDEN),
               "model.norm.weight": ones}
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        for norm in ("input_layernorm", "post_attention_layernorm"):
            tensors[layer + norm + ".weight"] = ones
        for part in "qkvo":
            tensors[layer + f"self_attn.{part}_proj.weight"] = random(HIDDEN, HIDDEN)
        tensors[layer + "mlp.gate_proj.weight"] = random(FEED_FORWARD, HIDDEN)
        tensors[layer + "mlp.up_proj.weight"] = random(FEED_FORWARD, HIDDEN)
        tensors[layer + "mlp.down_proj.weight"] = random(HIDDEN, FEED_FORWARD)
    tensors = {name: t.copy() for name, t in tensors.items()}  # safetensors refuses tensors that share memory
    save_file(tensors, f"{folder}/model.safetensors", metadata={"format": "pt"})


def write(name, doc):
    with open(name, "w") as f:
        json.dump(doc, f, indent=1)


os.makedirs(sys.argv[1], exist_ok=True)
tokenizer(sys.argv[1])
config(sys.argv[1])
weights(sys.argv[1])
