#!/usr/bin/env python3
"""Makes a small byte-level tokenizer folder that load clients accept: tokenizer.py FOLDER. Needs tokenizers and
transformers."""
import json, random, sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

SIZE = 4000
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"

rnd = random.Random(7)
words = ["".join(rnd.choices("abcdefghijklmnopqrstuvwxyz", k=rnd.randint(2, 8))) for _ in range(2000)]
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
trainer = trainers.BpeTrainer(vocab_size=SIZE, special_tokens=["<s>", "</s>"], show_progress=False,
                              initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
tokenizer.train_from_iterator((" ".join(rnd.choices(words, k=50)) for _ in range(3000)), trainer)
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
fast.chat_template, fast.model_max_length = TEMPLATE, 131072
fast.save_pretrained(sys.argv[1])
with open(sys.argv[1] + "/config.json", "w") as f:
    json.dump({"model_type": "llama", "vocab_size": SIZE}, f)
