package rows

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
)

// openMetrics writes the numbers of a release, its scores and whether it passes as gauges in OpenMetrics 1.0 text
// (OpenObservability/OpenMetrics, specification/OpenMetrics.md). Units are those of the house; they are in the name.
func openMetrics(r *render.Report, release int) ([]Written, error) {
	families, help := map[string][]string{}, map[string]string{}
	add := func(name, unit, means string, value Num, labels ...string) {
		name = "ttreport_" + gaugeName(name)
		if unit = gaugeName(unit); unit != "" && !strings.HasSuffix(name, "_"+unit) {
			name += "_" + unit
		}
		help[name] = means
		var b bytes.Buffer
		for i := 0; i < len(labels); i += 2 {
			if labels[i+1] != "" {
				fmt.Fprintf(&b, `,%s="%s"`, labels[i], gaugeLabel.Replace(labels[i+1]))
			}
		}
		families[name] = append(families[name], fmt.Sprintf("%s{%s} %v\n", name, b.Bytes()[min(1, b.Len()):], float64(value)))
	}
	for _, p := range statistics(r, release) {
		if p.Value == nil || p.Status == Text(schema.StatusInvalid) {
			continue
		}
		info, _ := schema.MetricByName(p.Metric)
		add(p.Metric, p.Unit, info.Means, *p.Value, "release", p.Partition, "model", string(p.Model), "device",
			string(p.Device), "implementation", string(p.Impl), "workload", p.Key, "stat", p.Stat, "definition",
			p.Definition, "run", string(p.Run), "repeat", fmt.Sprint(p.Repeat))
	}
	for i, s := range Scores(r, release) {
		if s.Value != nil {
			add("score", "", "A score of an eval, on its own scale.", *s.Value, "release", s.Partition, "model",
				string(s.Model), "device", string(s.Device), "implementation", string(s.Impl), "task", string(s.Task),
				"metric", string(s.Metric), "filter", string(s.Filter), "run", string(s.Run), "place", fmt.Sprint(i+1))
		}
	}
	passes := Num(0)
	if review := r.Gate.Review(release, "", ""); review.Result.Exit == 0 {
		passes = 1
	}
	add("release_passes", "", "1 where the gate lets the release pass.", passes, "release", r.Releases[release].Name)
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(families)) {
		fmt.Fprintf(&b, "# TYPE %s gauge\n", name)
		if text := help[name]; text != "" {
			fmt.Fprintf(&b, "# HELP %s %s\n", name, gaugeLabel.Replace(text))
		}
		for _, line := range families[name] {
			b.WriteString(line)
		}
	}
	b.WriteString("# EOF\n")
	return []Written{{"metrics.txt", b.Bytes()}}, nil
}

var gaugeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// gaugeName keeps what a name may have: an own metric loses the braces with its unit, which follows.
func gaugeName(s string) string {
	s, _, _ = strings.Cut(s, "{")
	s = strings.NewReplacer("%", "percent", "/", "_per_").Replace(s)
	return strings.Trim(strings.Map(func(c rune) rune {
		if c < 0x80 && (c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
			return c
		}
		return '_'
	}, s), "_")
}
