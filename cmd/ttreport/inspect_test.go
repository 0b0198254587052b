package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// A thousand files of a deep tree make a page that a person reads: grouped and counted, the worst first, no line of
// silly width, no path twice.
func TestInspectOfAThousandFiles(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	t.Chdir(t.TempDir())
	for i := range 1000 {
		dir := fmt.Sprintf("lab/a-folder-with-a-long-name-as-people-give-them/campaign-of-2026-%02d/"+
			"Llama-3.1-70B-Instruct-on-some-machine", i%40)
		text := fmt.Sprintf(`{"date":"202601%02d-000000","model_id":"acme/a-model-with-a-very-long-name-of-its-own-%d",`+
			`"max_concurrency":%d,"completed":8,"num_prompts":%d,"duration":2.0,"output_throughput":%d.5,"mean_ttft_ms":%d.25}`,
			1+i%28, i%40, 1+i/40, 8+i%2, i+1, i+1)
		switch i % 50 {
		case 7:
			text = text[:60]
		case 8:
			text = "notes\n"
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("openai-infqps-concurrency%d-some-long-model-name-%04d.json",
			i, i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"inspect", "lab"}, nil, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) > 80 {
		t.Errorf("%d lines for 1,000 files", len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 200 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	head, problems, _ := strings.Cut(out.String(), "\nPROBLEMS, worst first\n")
	if !strings.HasPrefix(head, "1000 files in lab/a-folder-with-a-long-name-as-people-give-them/: 960 results, 40 "+
		"no results.") && !strings.Contains(head, "1000 files in lab/") {
		t.Errorf("the first line is %q", lines[0])
	}
	error, warning := strings.Index(problems, "error "), strings.Index(problems, "warning ")
	if error != 0 || warning < error || strings.Count(problems, "truncated")+strings.Count(problems,
		"the file ends here") != 1 {
		t.Errorf("not the worst first, or the same twice:\n%s", problems)
	}
}
