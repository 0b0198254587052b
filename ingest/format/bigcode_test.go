package format_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var bigCodeReader = Reader{Detect: format.BigCode.Detect, Read: format.BigCode.Read}

const bigCodeResults = `{"humaneval":{"pass@1":0.35123,"pass@10":0.5},"config":{"model":"acme/coder",` +
	`"tasks":"humaneval","temperature":0.2,"n_samples":20,"revision":null,"precision":"bf16","limit":null}}`

func TestBigCodeResults(t *testing.T) {
	r := bigCodeReader.Must(t, "evaluation_results.json", bigCodeResults)
	if len(r.Scores) != 2 || r.Facts.Model.ID != "acme/coder" || r.Facts.Model.Precision != "bf16" {
		t.Fatalf("%+v", r)
	}
	s := r.Scores[0]
	if x, _ := s.Value.Get(); s.Metric != "pass@1" || x != .35123 || s.Filter != "temperature 0.2, n_samples 20" {
		t.Errorf("%+v", s)
	}
}

// A branch or tag of the weights is another model, a commit of them a fact about the build.
func TestBigCodeRevision(t *testing.T) {
	for revision, want := range map[string][2]string{
		`null`: {"acme/coder", ""}, `"main"`: {"acme/coder", ""}, `"step-1000"`: {"acme/coder@step-1000", ""},
		`"refs/pr/7"`: {"acme/coder@refs-pr-7", ""}, `"4df29be"`: {"acme/coder", "4df29be"},
	} {
		text := strings.Replace(bigCodeResults, `"revision":null`, `"revision":`+revision, 1)
		r := bigCodeReader.Must(t, "evaluation_results.json", text)
		if f := r.Facts; f.Model.ID != want[0] || f.Stack.Commits[schema.ModelCommit] != want[1] {
			t.Errorf("%s: %q %v", revision, f.Model.ID, f.Stack.Commits)
		}
	}
}

func FuzzBigCode(f *testing.F) { bigCodeReader.Fuzz(f, "x.json", bigCodeResults) }
