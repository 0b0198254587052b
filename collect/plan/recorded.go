package plan

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"

	"github.com/ttreport/ttreport/collect/capacity"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
)

// mostRecorded bounds the file of a trace or of conversations, bytes.
const mostRecorded = 1 << 30

// conversationsExample is a workload of ShareGPT's conversations.
const conversationsExample = "--workload dataset=sharegpt,path=ShareGPT.json,osl=128,c=8"

// replayable reports whether the builtin client can make a workload of a dataset.
func (w Workload) replayable() bool {
	return w.Dataset == DatasetTrace || w.Dataset == ShareGPT && w.Path != "" && w.OSL > 0
}

// recorded fills in what the file of a trace states: mean lengths, the number of requests and their rate, and a label,
// because the lengths alone do not name the workload.
func (w Workload) recorded() (Workload, error) {
	if w.Dataset != DatasetTrace {
		return w, nil
	}
	t, err := w.trace()
	if err != nil {
		return w, err
	}
	w.Unanswered = t.Failed
	w.Requests = len(t.Take(w.Requests, 1))
	t.Requests = t.Requests[:w.Requests]
	w.ISL, w.OSL = t.Mean()
	label := filepath.Base(w.Path) + "@" + t.ID
	if w.Block > 0 && w.sharesOtherwise(t) {
		label += fmt.Sprintf(" block %d", w.Block)
	}
	if w.Concurrency == 0 {
		if w.Rate = t.Rate(); w.Rate == 0 {
			return w, usage("add c=8: requests follow each other in 8 streams", "collect: %s has no timestamps", w.Path)
		}
		if w.Speed > 0 && w.Speed != 1 {
			w.Rate *= w.Speed
			label += " ×" + strconv.FormatFloat(w.Speed, 'g', -1, 64)
		}
	}
	w.Dims = map[string]string{schema.DimLabel: label}
	return w, nil
}

// sharesOtherwise reports that prompts share something else than they would by the file's own block.
func (w Workload) sharesOtherwise(t traffic.Trace) bool {
	w.Block = 0
	own, err := w.trace()
	if err != nil {
		return true // it has none
	}
	for i, q := range t.Requests {
		if len(q.Blocks) > 0 && q.BlockTokens != own.Requests[i].BlockTokens {
			return true
		}
	}
	return false
}

func (w Workload) trace() (traffic.Trace, error) {
	const example = "--workload dataset=trace,path=trace.jsonl,n=500; ttreport help plans has the formats"
	data, err := rootfs.ReadFile(w.Path, mostRecorded)
	if err != nil {
		return traffic.Trace{}, usage(example, "collect: the path of dataset=trace: %w", err)
	}
	t, err := traffic.ReadTrace(data, w.Block)
	if err != nil {
		return t, usage(example, "collect: the trace %s: %w", w.Path, err)
	}
	return t, nil
}

// Draw returns the requests of a workload. The same seed gives the same ones.
func (w Workload) Draw(seed uint64) ([]traffic.Request, error) {
	if w.Dataset == DatasetTrace {
		t, err := w.trace()
		if err != nil {
			return nil, err
		}
		return t.Take(w.Requests, w.Speed), nil
	}
	base := traffic.Base{ISL: w.ISL, OSL: w.OSL, Rate: w.Rate, Context: w.Context}
	list := w.Shape.Requests(base, w.Requests, seed)
	if w.Dataset != ShareGPT {
		return list, nil
	}
	data, err := rootfs.ReadFile(w.Path, mostRecorded)
	if err != nil {
		return nil, usage(conversationsExample, "collect: the path of dataset=sharegpt: %w", err)
	}
	texts, err := traffic.ReadConversations(data)
	if err != nil {
		return nil, usage(conversationsExample, "collect: the conversations %s: %w", w.Path, err)
	}
	order := rand.New(rand.NewPCG(seed, 0x7368617265)).Perm(len(texts))
	for i := range list {
		list[i].Text = texts[order[i%len(order)]]
	}
	return list, nil
}

// searches turns workloads into searches for their capacity, one for each that differs in more than its load.
func searches(list []Workload, slo string) ([]Workload, error) {
	objective, err := capacity.ParseSLO(slo)
	if err != nil {
		return nil, usage("", "collect: --slo: %w", err)
	}
	var out []Workload
	for _, w := range list {
		if w.ISL == 0 || w.OSL == 0 || w.Dataset != "" {
			const why = "collect: --slo needs prompts of known lengths, and %s has none"
			return nil, usage("--workload isl=2000,osl=128,c=1 --slo 'ttft_p99<500ms'", why, w)
		}
		w.SLO, w.FindRate = objective, w.Rate > 0
		w.Concurrency, w.Rate, w.Requests = 0, 0, 0
		if !w.FindRate || w.Shape.Arrivals.Changes() {
			w.Shape.Arrivals, w.Shape.Burstiness = traffic.Arrivals{}, 0
		}
		out = join(out, w)
	}
	return out, nil
}
