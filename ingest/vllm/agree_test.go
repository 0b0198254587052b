package vllm_test

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// agree compares every statistic that a detailed file states with the recomputed one, and returns how many agree to a
// millionth. Files with hollow successes cannot agree.
func agree(t *testing.T, name string) (compared int) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f := decode.NewFile(name, data, time.Time{}, decode.DefaultLimits())
	v := f.First
	if m := vllm.Reader.Detect(&f); !m.OK() || m.Format != vllm.Format || v.Get("ttfts").Len() == 0 {
		return 0
	}
	r := vllm.Reader.Read(&f)
	for _, p := range r.Problems {
		if p.Code == "hollow-success" || p.Code == "all-failed" {
			return 0
		}
	}
	p := r.Points[0]
	near := func(key string, stated, now float64) {
		t.Helper()
		if compared++; math.Abs(stated-now) > 1e-6*math.Abs(stated) {
			t.Errorf("%s: %s is %v in the file, recomputed %v", name, key, stated, now)
		}
	}
	for _, m := range v.Members() {
		for _, f := range draft.VLLM("{}_X_ms", 1) {
			stat, ok := f.Stat(m.Key)
			stated, has := m.Val.Float()
			if now, kept := p.Value(f.Metric, stat); ok && has && kept && stated != 0 {
				if drafttest.Metric(p, f.Metric).Kind().From != "recomputed" {
					t.Errorf("%s: %s was taken as stated", name, f.Metric)
				}
				near(m.Key, stated, now)
			}
		}
	}
	for metric, key := range map[string]string{
		"rps": "request_throughput", "output_tps": "output_throughput", "total_tps": "total_token_throughput",
	} {
		stated, a := v.Get(key).Float()
		if now, b := p.Value(metric, "value"); a && b {
			near(key, stated, now)
		}
	}
	return compared
}

// Recomputed statistics agree with those of a genuine file to a millionth.
func TestRecomputedAgreeWithStated(t *testing.T) {
	if n := agree(t, "testdata/0.33.0/result.json"); n < 25 {
		t.Errorf("only %d statistics of the recorded file were compared", n)
	}
}

func TestRecomputedAgreeWithRealFiles(t *testing.T) {
	files, total := 0, 0
	roots := []string{"../../testdata/recorded"}
	if corpus := os.Getenv("TTREPORT_CORPUS"); corpus != "" {
		roots = append(roots, corpus+"/vllm")
	}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && strings.HasSuffix(name, ".json") {
				if n := agree(t, name); n > 0 {
					files, total = files+1, total+n
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d statistics of %d real files agree", total, files)
}

// Counts and tokens that the requests contradict are reported and replaced, like every other statistic.
func TestTalliesAreRecomputed(t *testing.T) {
	r := read(t, detailed([]float64{.01, .02, .03}, []int{5, 5, 5}, .002, func(m map[string]any) {
		m["completed"], m["total_output_tokens"], m["total_input_tokens"] = 5, 99, 30
	}))
	ok, _ := r.Points[0].Value("requests_ok", "value")
	osl, _ := r.Points[0].Value("osl", "mean")
	if codes(r) != "disagreement disagreement" || ok != 3 || osl != 5 ||
		drafttest.Metric(r.Points[0], "osl").Kind().From != "recomputed" || r.Points[0].Status != schema.StatusOK {
		t.Errorf("%v requests of %v tokens, %s: %v", ok, osl, r.Points[0].Status, r.Problems)
	}
}

// Requests that count as completed and produced no token have failed, unless nothing counted tokens.
func TestNoTokenAtAll(t *testing.T) {
	const text = `{"tokenizer_id":"acme/t","completed":8,"duration":2.0,"total_output_tokens":0,` +
		`"output_throughput":0.0,"request_throughput":4.5,"mean_e2el_ms":9.5,"p99_e2el_ms":12.5}`
	hollow := read(t, text)
	ok, _ := hollow.Points[0].Value("requests_ok", "value")
	failed, _ := hollow.Points[0].Value("requests_failed", "value")
	if codes(hollow) != "hollow-success" || hollow.Points[0].Status != schema.StatusFailed || ok != 0 || failed != 8 ||
		len(drafttest.Metric(hollow.Points[0], "e2el").Stats) > 0 {
		t.Errorf("%v of %v, %+v", ok, failed, hollow.Points[0])
	}
	uncounted := read(t, strings.Replace(text, `"acme/t"`, `null`, 1))
	p := uncounted.Points[0]
	if mean, _ := p.Value("e2el", "mean"); codes(uncounted) != "" || p.Status != schema.StatusOK ||
		mean != 9.5 || len(drafttest.Metric(p, "output_tps").Stats) > 0 || len(drafttest.Metric(p, "osl").Stats) > 0 {
		t.Errorf("%v, %+v", uncounted.Problems, p.Metrics)
	}
	negative := read(t, strings.Replace(strings.Replace(text, `tokens":0`, `tokens":5`, 1), `"duration":2.0`,
		`"duration":-2.0`, 1))
	if m := drafttest.Metric(negative.Points[0], "duration_s"); codes(negative) != "negative" || len(m.Stats) > 0 ||
		m.Kind().Why == "" {
		t.Errorf("%v, %+v", negative.Problems, m)
	}
}
