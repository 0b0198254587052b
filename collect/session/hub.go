package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/collect/plan"
)

// haveDatasets returns an error if a workload needs a file that nobody has fetched.
func haveDatasets(p plan.Plan) error {
	for _, w := range p.Workloads {
		if w.Dataset == plan.ShareGPT && w.Path == "" {
			return plan.UsageError{
				Err: fmt.Errorf("collect: %s needs ShareGPT, and %s is not in this folder", w, plan.ShareGPTFile),
				Fix: "fetch it once (640 MB): curl -LO https://huggingface.co/datasets/anon8231489123/" +
					"ShareGPT_Vicuna_unfiltered/resolve/main/" + plan.ShareGPTFile +
					"; or state another path: dataset-path in the configuration, path=FILE in --workload",
			}
		}
		if w.Path == "" {
			continue
		}
		if _, err := os.Stat(w.Path); err != nil {
			return plan.UsageError{Err: fmt.Errorf("collect: the dataset of %s: %w", w, err), Fix: "path=FILE"}
		}
	}
	return nil
}

// lengthNames are the members of a model's configuration that state its context, by Transformers' conventions, as vLLM
// reads them (vllm/config, _get_and_verify_max_len); the smallest that is stated holds.
func lengthNames() []string {
	return []string{
		"max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length", "max_target_positions",
		"max_sequence_length", "max_seq_length", "seq_len",
	}
}

// LongestOf returns how many tokens a model takes at most, by its configuration in a folder, in the cache of the hub or
// on the hub; 0 where that cannot be known. offline keeps it from asking the hub.
func LongestOf(ctx context.Context, model string, offline bool) int {
	for _, pattern := range []string{
		filepath.Join(model, "config.json"),
		filepath.Join(hubCache(), "models--"+strings.ReplaceAll(model, "/", "--"), "snapshots", "*", "config.json"),
	} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			continue
		}
		slices.Sort(found)
		if data, err := os.ReadFile(found[len(found)-1]); err == nil {
			return longestIn(data)
		}
	}
	if offline || hubForbidden() || !strings.Contains(model, "/") || filepath.IsAbs(model) {
		return 0
	}
	return longestIn(fromHub(ctx, model, "config.json"))
}

// longestIn is the length that a configuration states, 0 for none.
func longestIn(data []byte) int {
	var config map[string]json.RawMessage
	if json.Unmarshal(data, &config) != nil {
		return 0
	}
	longest := 0
	for _, name := range lengthNames() {
		var n int
		if json.Unmarshal(config[name], &n) == nil && n > 0 && (longest == 0 || n < longest) {
			longest = n
		}
	}
	return longest
}

// hubCache is the folder in which files of the hub are kept, "" where there is none.
func hubCache() string {
	if cache := cmp.Or(os.Getenv("HF_HUB_CACHE"), os.Getenv("HUGGINGFACE_HUB_CACHE")); cache != "" {
		return cache
	}
	if home := os.Getenv("HF_HOME"); home != "" {
		return filepath.Join(home, "hub")
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(user, ".cache", "huggingface", "hub")
}

// hubForbidden reports that the user forbids to ask the hub.
func hubForbidden() bool {
	v := os.Getenv("HF_HUB_OFFLINE")
	return v == "1" || strings.EqualFold(v, "true")
}

// hubRequest asks the hub for a file of a model.
func hubRequest(ctx context.Context, method, model, file string) (*http.Request, string, error) {
	hub := strings.TrimSuffix(cmp.Or(os.Getenv("HF_ENDPOINT"), "https://huggingface.co"), "/")
	r, err := http.NewRequestWithContext(ctx, method, hub+"/"+path(model)+"/resolve/main/"+file, nil)
	if err != nil {
		return nil, hub, err
	}
	if token := os.Getenv("HF_TOKEN"); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r, hub, nil
}

// mostConfig bounds a model's configuration, in bytes.
const mostConfig = 1 << 20

// fromHub returns a small file of a model, nil where it cannot be had.
func fromHub(ctx context.Context, model, file string) []byte {
	ask, _, err := hubRequest(ctx, http.MethodGet, model, file)
	if err != nil {
		return nil
	}
	answer, err := origin.Client(hubPatience).Do(ask)
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, mostConfig))
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil
	}
	return data
}
