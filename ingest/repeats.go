package ingest

import (
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// varying matches names of metadata that differ between repeats of one workload: the number of the repeat, and where
// and when it was measured.
var varying = regexp.MustCompile(`(?i)(?:^|[_.-])(` +
	`id|uuid|run|runs|number|index|idx|iteration|iter|trial|attempt|repeat|seed|date|time|timestamp|start|end|` +
	`host|hostname|node|user|author|commit|sha|hash|git|branch|build|job|pipeline|workflow|ci|url|link|path|file|dir|` +
	`comment|comments|note|notes|description|version|release|tag|count|total)s?(?:$|[_.-])`)

// separateSettings turns metadata that differ between results of one workload into dimensions, because measurements
// with different settings are not repeats. Only strings count: metadata are strings, and tools write their own
// numbers as numbers.
func separateSettings(points []schema.Point) []schema.Problem {
	groups := map[string][]*schema.Point{}
	var order []string
	for i := range points {
		key := points[i].Key.String()
		if len(groups[key]) == 0 {
			order = append(order, key)
		}
		groups[key] = append(groups[key], &points[i])
	}
	var out []schema.Problem
	for _, key := range order {
		if len(groups[key]) < 2 {
			continue
		}
		for _, name := range differing(groups[key]) {
			for _, p := range groups[key] {
				if v := settingOf(p, name); v != "" {
					p.Key.Dims = with(p.Key.Dims, name, v)
				}
			}
			out = append(out, schema.Problem{
				Severity: schema.SevNote, Path: groups[key][0].Source.Path, Code: "told-apart",
				Found:    fmt.Sprintf("%d results of one workload with different %s", len(groups[key]), name),
				Expected: "repeats to agree in what was set", Used: name + " as a part of the workload",
				Hint: "if it makes no difference, measure under the same value, or leave it out of the metadata",
			})
		}
	}
	return out
}

// differing lists the settings that have several values in a group.
func differing(group []*schema.Point) []string {
	values := map[string]map[string]bool{}
	for _, p := range group {
		for name := range p.Extra {
			if values[name] == nil && settingOf(p, name) != "" && !varying.MatchString(name) {
				values[name] = map[string]bool{}
			}
		}
	}
	var out []string
	for name, seen := range values {
		for _, p := range group {
			seen[settingOf(p, name)] = true
		}
		if len(seen) > 1 {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// settingOf returns a short string of a point's unknown fields, "" if it has none of that name.
func settingOf(p *schema.Point, name string) string {
	if !strings.HasPrefix(p.Source.Format, "vllm-") {
		return ""
	}
	raw := string(p.Extra[name])
	if len(raw) < 3 || len(raw) > 60 || raw[0] != '"' || strings.ContainsAny(raw, `\[`) {
		return ""
	}
	return raw[1 : len(raw)-1]
}
