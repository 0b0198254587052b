package render

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
)

// unlikeLoadsText says of how many workloads the two sides did not do the same work, and where it is worst.
func unlikeLoadsText(c *compare.Result) (out []string) {
	n := len(c.Loads)
	lengths := mostOf(c.Loads, (*compare.Loads).Lengths, func(l *compare.Loads) float64 {
		share, _ := l.Answers()
		return -share
	})
	if lengths.n > 0 {
		out = append(out, fmt.Sprintf("answers differ in length in %s, where one side's are below %s of the other's; "+
			"most in %s: %s", ofWorkloads(lengths.n, n), words.Percent(schema.LeastAnswer), whereOf(lengths.most),
			answers(lengths.most)))
	}
	for _, side := range []struct {
		name string
		of   func(*compare.Loads) compare.Load
	}{
		{c.A, func(l *compare.Loads) compare.Load { return l.A }},
		{c.B, func(l *compare.Loads) compare.Load { return l.B }},
	} {
		fails := mostOf(c.Loads, func(l *compare.Loads) bool { return side.of(l).Failing() },
			func(l *compare.Loads) float64 { return side.of(l).Failed / side.of(l).Of })
		if fails.n > 0 {
			out = append(out, fmt.Sprintf("more than %s of requests failed in %s of %s; most in %s: %s",
				words.Percent(schema.MostFailures), ofWorkloads(fails.n, n), side.name, whereOf(fails.most),
				failed(side.of(fails.most))))
		}
	}
	return out
}

// found are workloads of which something holds, and where it holds most.
type found struct {
	n    int
	most *compare.Loads
}

func mostOf(list []*compare.Loads, is func(*compare.Loads) bool, size func(*compare.Loads) float64) (f found) {
	for _, l := range list {
		if !is(l) {
			continue
		}
		if f.n++; f.most == nil || size(l) > size(f.most) {
			f.most = l
		}
	}
	return f
}

func ofWorkloads(n, all int) string {
	return words.Count(n) + " of " + words.Plural(all, "workload")
}

func whereOf(l *compare.Loads) string { return workloadOn(l.System, l.Key) }

// workloadOn names a workload of a side that may have several systems.
func workloadOn(system string, k schema.Key) string {
	where := strings.Trim(words.Workload(k)+" "+k.Tool, " ")
	if system != "" {
		where = system + " " + where
	}
	return where
}

// answers are the lengths of both sides: "1,024 → 145 tokens".
func answers(l *compare.Loads) string {
	a, _ := l.A.OSL.Get()
	b, _ := l.B.OSL.Get()
	return words.Quantity(a, "") + " → " + words.Quantity(b, "") + " tokens"
}

// failed is how many requests of a side failed: "38 of 100"; absent where they are not counted.
func failed(l compare.Load) string {
	if l.Of == 0 {
		return words.Absent
	}
	return words.Of(int(l.Failed), int(l.Of))
}

// loadMark says of a row what its workload's requests did otherwise; "" where they did the same.
func loadMark(l *compare.Loads) string {
	if l == nil {
		return ""
	}
	var out []string
	if l.Lengths() {
		out = append(out, "answers "+answers(l))
	}
	if l.A.Failing() || l.B.Failing() {
		out = append(out, "failed "+failed(l.A)+" → "+failed(l.B))
	}
	return strings.Join(out, "; ")
}
