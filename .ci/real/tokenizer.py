#!/usr/bin/env python3
"""Makes a small byte-level tokenizer folder that load clients accept: tokenizer.py FOLDER. Needs tokenizers and transformers."""
import json, random, sys
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

rnd = random.Random(7)
letters = "abcdefghijklmnopqrstuvwxyz"
words = ["".join(rnd.choices(letters, k=rnd.randint(2, 8))) for _ in range(2000)]
t = Tokenizer(models.BPE())
t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
t.train_from_iterator((" ".join(rnd.choices(words, k=50)) for _ in range(3000)), trainers.BpeTrainer(vocab_size=4000, special_tokens=["<s>", "</s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
fast = PreTrainedTokenizerFast(tokenizer_object=t, bos_token="<s>", eos_token="</s>")
fast.chat_template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"
fast.model_max_length = 131072
fast.save_pretrained(sys.argv[1])
json.dump({"model_type": "llama", "vocab_size": 4000}, open(sys.argv[1] + "/config.json", "w"))
