"""Sums in words, for Inspect: the simulator answers most of them."""
import random

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from inspect_ai.solver import generate


@task
def sums():
    rnd = random.Random(1)
    pairs = [(rnd.randint(10, 99), rnd.randint(10, 99)) for _ in range(20)]
    question = "What is {} plus {}? Answer with the number alone."
    samples = [Sample(id=f"{a}+{b}", input=question.format(a, b), target=str(a + b)) for a, b in pairs]
    return Task(dataset=samples, solver=generate(), scorer=match(numeric=True))
