package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// thousand writes a thousand small results of ten campaigns.
func thousand(t testing.TB) {
	t.Helper()
	for i := range 1000 {
		dir := filepath.Join("in", fmt.Sprint(i%10))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"date":"20260102-%02d%02d00","model_id":"acme/m-%d","completed":8,"num_prompts":8,`+
			`"max_concurrency":%d,"random_input_len":128,"random_output_len":32,"duration":2.0,"output_throughput":%d.5,`+
			`"mean_ttft_ms":%d.25}`, i/10%4, i/10%60, i%10, i/10+1, i+1, i+1)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.json", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func builds(t testing.TB) (out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	if code := run(context.Background(), []string{"build", "in"}, nil, &o, &e); code != 0 {
		t.Fatal(e.String())
	}
	return o.String(), e.String()
}

// A build of input that did not change looks at sizes and times alone: content that changed behind them goes unseen,
// and a time that changed is followed.
func TestUnchangedInputIsNotRead(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	t.Chdir(t.TempDir())
	thousand(t)
	first, _ := builds(t)
	name := filepath.Join("in", "3", "0003.json")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(data, []byte(`"completed":8`), []byte(`"completed":4`), 1)
	if err := os.WriteFile(name, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	second, said := builds(t)
	if second != first || !strings.Contains(said, "1000 files, unchanged since the last build") ||
		!strings.Contains(said, "0 new or changed") {
		t.Errorf("%q, then %q: %s", first, second, said)
	}
	if err := os.Chtimes(name, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, said = builds(t); strings.Contains(said, "unchanged since") || !strings.Contains(said, "1 warning") {
		t.Errorf("a file that changed was not read: %s", said)
	}
}

// BenchmarkSecondBuild builds from a thousand files that did not change. The budget is 0.1 s.
func BenchmarkSecondBuild(b *testing.B) {
	b.Chdir(b.TempDir())
	thousand(b)
	builds(b)
	for b.Loop() {
		if _, said := builds(b); !strings.Contains(said, "unchanged since") {
			b.Fatal(said)
		}
	}
}
