package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// EvalTask is the name of the builtin eval: sums of two numbers below a thousand, asked in words, answered in digits.
const EvalTask = "builtin_arithmetic"

// Eval describes the questions to ask.
type Eval struct {
	URL, Model, APIKey string
	Items              int
	Seed               uint64
	Virtual            *sim.Virtual // asked in place of the URL; may be nil
}

// RunEval asks every question once and returns the result in lm-evaluation-harness' form. A question without an
// answer ends the eval with an error, because a score must not count missing answers.
func RunEval(ctx context.Context, e Eval) ([]byte, error) {
	now := time.Now
	if e.Virtual != nil {
		now = e.Virtual.Time
	}
	began := now()
	rng := rand.New(rand.NewPCG(e.Seed, 0x6576616c))
	right := 0
	for i := range e.Items {
		a, b := rng.IntN(1000), rng.IntN(1000)
		answer, err := e.ask(ctx, fmt.Sprintf("What is %d + %d? Answer with the number alone.", a, b))
		if err != nil {
			return nil, fmt.Errorf("question %d of %d: %w", i+1, e.Items, err)
		}
		if strings.TrimSpace(answer) == strconv.Itoa(a+b) {
			right++
		}
	}
	n := float64(e.Items)
	p := float64(right) / n
	task := func(v any) map[string]any { return map[string]any{EvalTask: v} }
	b, err := json.MarshalIndent(map[string]any{
		"results": task(map[string]any{
			"alias": EvalTask, "exact_match,none": p, "exact_match_stderr,none": math.Sqrt(p * (1 - p) / (n - 1)),
		}),
		"configs": task(map[string]any{"task": EvalTask}), "versions": task(1), "n-shot": task(0),
		"higher_is_better": task(map[string]any{"exact_match": true}),
		"n-samples":        task(map[string]any{"original": e.Items, "effective": e.Items}),
		"config": map[string]any{
			"model": "ttreport-builtin", "model_args": "model=" + e.Model, "limit": nil, "random_seed": e.Seed,
		},
		"date": float64(began.UnixMilli()) / 1000, "model_name": e.Model, "model_source": "ttreport-builtin",
		"total_evaluation_time_seconds": strconv.FormatFloat(now().Sub(began).Seconds(), 'f', 3, 64),
	}, "", " ")
	if err != nil {
		return nil, fmt.Errorf("writing the eval: %w", err)
	}
	return append(b, '\n'), nil
}

// ask returns the answer to a question.
func (e Eval) ask(ctx context.Context, question string) (string, error) {
	if e.Virtual != nil {
		return e.Virtual.Answer(question), nil
	}
	const patience = 5 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	status, text, err := origin.Ask(ctx, http.MethodPost, strings.TrimSuffix(e.URL, "/")+"/v1/chat/completions", e.APIKey,
		map[string]any{"model": e.Model, "temperature": 0, "max_tokens": 16,
			"messages": []any{map[string]any{"role": "user", "content": question}}})
	if err != nil {
		return "", err
	}
	if status != http.StatusOK {
		return "", fmt.Errorf("HTTP %d: %s", status, redact.Text(string(text[:min(len(text), 300)])))
	}
	choice := decode.Parse(text, 32).At("choices", "0")
	if choice.Kind() != decode.Object {
		return "", fmt.Errorf("an answer without choices: %.200q", text)
	}
	return choice.At("message", "content").Str(), nil
}
