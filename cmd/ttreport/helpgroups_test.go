package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags with groups are shown under their headings, the common ones first; flags without groups are one list.
func TestFlagGroups(t *testing.T) {
	t.Parallel()
	c := &cobra.Command{Use: "x"}
	fs := c.Flags()
	fs.SortFlags = false
	for _, f := range [][2]string{{"alpha", "First"}, {"beta", "First"}, {"gamma", "Second"}} {
		fs.Bool(f[0], false, "seldom")
		fs.Lookup(f[0]).Annotations = map[string][]string{groupOf: {f[1]}}
	}
	fs.Bool("secret", false, "never")
	fs.Lookup("secret").Hidden = true
	fs.Lookup("alpha").Annotations[isCommon] = nil
	for all, want := range map[bool][]string{
		false: {"First:", "--alpha", "2 more flags: x --help --all"},
		true:  {"First:", "--alpha", "--beta", "Second:", "--gamma"},
	} {
		var out bytes.Buffer
		writeFlags(&out, c, all)
		at := 0
		for _, w := range want {
			i := strings.Index(out.String()[at:], w)
			if i < 0 {
				t.Fatalf("all %v: %q is not, or not in order, in\n%s", all, w, out.String())
			}
			at += i
		}
		if strings.Contains(out.String(), "secret") || !all && strings.Contains(out.String(), "--beta") {
			t.Errorf("all %v:\n%s", all, out.String())
		}
	}
	plain := &cobra.Command{Use: "y"}
	plain.Flags().Bool("only", false, "one")
	var out bytes.Buffer
	if writeFlags(&out, plain, false); !strings.HasPrefix(out.String(), "\nFlags:\n") ||
		strings.Contains(out.String(), "more") {
		t.Error(out.String())
	}
}

// The help of collect shows twelve flags, which are those that it declares, each once.
func TestCollectShowsTwelveFlags(t *testing.T) {
	var shown []string
	collectCommand(&shell{}).Flags().VisitAll(func(f *pflag.Flag) {
		if _, ok := f.Annotations[isCommon]; ok {
			shown = append(shown, f.Name)
		}
		if len(f.Annotations[groupOf]) == 0 && !f.Hidden {
			t.Errorf("--%s has no group", f.Name)
		}
	})
	slices.Sort(shown)
	if want := "dry-run,device,evals,model,out,recheck,release,repeat,server,sweep,tools,workload"; len(shown) != 12 ||
		strings.Join(shown, ",") != strings.Join(slices.Sorted(slices.Values(strings.Split(want, ","))), ",") {
		t.Error(shown)
	}
}
