package main

import (
	"bytes"
	"cmp"
	"context"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Every flag of every command that is no text names itself and an example where its value is none of its kind.
func TestEveryFlagNamesItself(t *testing.T) {
	t.Chdir(t.TempDir())
	n := 0
	for _, c := range newRoot(&shell{}).Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "string", "stringArray", "stringSlice", "stringToString":
				return
			}
			if runPyTakesAny(f) {
				return
			}
			n++
			const nonsense = "?!"
			var out, problems bytes.Buffer
			code := run(context.Background(), []string{c.Name(), "--" + f.Name + "=" + nonsense}, strings.NewReader(""), &out,
				&problems)
			text := problems.String()
			if code != exitUsage || !strings.Contains(text, "--"+f.Name) || !strings.Contains(text, "fix: ") {
				t.Errorf("%s --%s=%s (%s): exit %d: %s%s", c.Name(), f.Name, nonsense, f.Value.Type(), code, text, out.String())
			}
		})
	}
	if n < 40 {
		t.Errorf("only %d flags were tried", n)
	}
}

// Flags that the rule of a command's text keeps apart, or that lack another, are refused, and their values too.
func TestEveryRuleIsObeyed(t *testing.T) {
	t.Chdir(t.TempDir())
	n := 0
	for _, c := range newRoot(&shell{}).Commands() {
		given := func(flag string) string {
			name, value, _ := strings.Cut(flag, "=")
			switch f := c.Flag(name[2:]); {
			case value == "" && f.Value.Type() == "bool":
				return name
			case value == "" && f.Value.Type() != "string":
				return name + "=-5" + map[string]string{"duration": "s"}[f.Value.Type()]
			}
			return name + "=" + cmp.Or(value, "?!")
		}
		for line := range strings.Lines(strings.ReplaceAll(c.Annotations[goTogether], "\n  ", " ")) {
			rule, _, _ := strings.Cut(strings.TrimSpace(line), ": ")
			left, others, excludes := strings.Cut(rule, " excludes ")
			left, _, _ = strings.Cut(left, " needs ")
			left, _, _ = strings.Cut(left, " is ")
			for flag := range strings.SplitSeq(left, ", ") {
				for other := range strings.SplitSeq(others, ", ") {
					n++
					args := []string{c.Name(), given(flag)}
					if excludes {
						args = append(args, given(other))
					}
					var out, problems bytes.Buffer
					code := run(context.Background(), args, strings.NewReader(""), &out, &problems)
					text := problems.String()
					isNamed := strings.Contains(text, flag+" ") || excludes && strings.Contains(text, other+" ")
					if code != exitUsage || !isNamed || !strings.Contains(text, "fix: ") {
						t.Errorf("%q: exit %d: %s", args, code, text)
					}
				}
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d rules were tried", n)
	}
}

// runPyTakesAny reports a flag of run.py or TensorRT-LLM that is taken with any value, and says that it does nothing.
func runPyTakesAny(f *pflag.Flag) bool {
	switch f.Name {
	case "concurrency-sweeps", "percentile-report", "reset-venvs", "skip-system-sw-validation":
		return true
	}
	return f.Value.Type() == "value"
}

// Every field of a workload names itself and an example where its value is none of its kind.
func TestEveryFieldNamesItself(t *testing.T) {
	t.Chdir(t.TempDir())
	base := map[string]string{"isl": "osl=8,c=1", "osl": "isl=8,c=1", "c": "isl=8,osl=8", "rate": "isl=8,osl=8"}
	for _, field := range []string{"isl", "osl", "c", "rate", "n", "arrivals", "burstiness", "prefix", "prefixes", "hit",
		"endpoint", "turns", "think", "image", "cancel", "timeout", "slo", "speed", "block", "path"} {
		for _, value := range []string{"?!", "-1", "", "(1", "1e99", "NaN"} {
			if field == "path" && value == "" {
				continue // none
			}
			rest := base[field]
			if rest == "" {
				rest = "isl=8,osl=8,c=1"
			}
			var out, problems bytes.Buffer
			code := run(context.Background(), []string{"collect", "--model", "sim-8b", "--device", "d", "--server", "sim",
				"--dry-run", "--workload", rest + "," + field + "=" + value}, strings.NewReader(""), &out, &problems)
			text := problems.String()
			named := strings.Contains(text, field+"=") || strings.Contains(text, field+" ")
			if code != exitUsage || !named || !strings.Contains(text, "as in") && !strings.Contains(text, "fix: ") {
				t.Errorf("%s=%s: exit %d: %s", field, value, code, text)
			}
		}
	}
}
