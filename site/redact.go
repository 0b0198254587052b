package site

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/render"
)

// redaction takes out of views what shows where things lie on somebody's machines, and what those are called: paths,
// addresses, users, hosts, registries, whichever field they are in. Package render leaves out commands and other
// fields. keep is the site's own address; hosts are the names of machines that any run states.
func redaction(keep string, hosts []string) rewriting {
	var stated *regexp.Regexp
	if len(hosts) > 0 {
		var quoted []string
		for _, h := range hosts {
			quoted = append(quoted, regexp.QuoteMeta(h))
		}
		stated = regexp.MustCompile(`(?i)(^|[^\w-])(?:` + strings.Join(quoted, "|") + `)(?:\.[\w-]+)*([^\w-]|$)`)
	}
	return rewriting{text: func(s string) string {
		if stated != nil {
			for range 2 { // two names beside each other share what is between them
				s = stated.ReplaceAllString(s, "${1}(host)${2}")
			}
		}
		return redacted(s, keep)
	}}
}

// PublicText is what a public site takes out of its texts, for files that are published beside it.
func PublicText(r *render.Report, keep string) func(string) string {
	return redaction(keep, hostsOf(r)).text
}

// hostsOf are the names of machines in a history, the longest first. What is also the name of a model, a device or a
// release is only removed where a text says that it is a host.
func hostsOf(r *render.Report) []string {
	seen, public := map[string]bool{}, map[string]bool{"": true, "localhost": true}
	for i := range r.Columns.Runs {
		h := &r.Columns.Runs[i]
		for _, name := range []string{h.Model.Name, h.Device, h.Release, h.Engine, h.Impl} {
			public[strings.ToLower(name)] = true
		}
	}
	for i := range r.Columns.Runs {
		name := strings.ToLower(strings.TrimSpace(r.Columns.Runs[i].Setting["host"]))
		seen[name] = !public[name] && len(name) > 1
		if short, _, dotted := strings.Cut(name, "."); dotted && len(short) > 2 && !public[short] {
			seen[short] = true
		}
	}
	var out []string
	for name, is := range seen {
		if is {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return out
}

func redacted(s, keep string) string {
	s = hostRE.ReplaceAllString(s, "host (host) → (host)")
	if !strings.ContainsAny(s, `/\\@.:`) {
		return s
	}
	s = urlRE.ReplaceAllStringFunc(s, func(m string) string {
		if keep != "" && strings.HasPrefix(m, keep) {
			return m
		}
		return "(address)"
	})
	s = pathRE.ReplaceAllStringFunc(s, func(m string) string {
		parts := pathRE.FindStringSubmatch(m)
		return parts[1] + path.Base(parts[2])
	})
	s = windowsRE.ReplaceAllString(s, "(path)")
	s = userRE.ReplaceAllString(s, "(name)")
	s = registryRE.ReplaceAllStringFunc(s, func(m string) string {
		if host, _, _ := strings.Cut(m, "/"); slices.Contains(publicHosts(), host) {
			return m
		}
		return "(registry)/"
	})
	s = shortRE.ReplaceAllString(s, "(registry)/${1}")
	s = internalRE.ReplaceAllString(s, "(host)")
	return privateRE.ReplaceAllString(s, "(address)")
}

// publicHosts are registries that do not show who uses them.
func publicHosts() []string {
	return []string{
		"ghcr.io", "docker.io", "quay.io", "nvcr.io", "gcr.io", "public.ecr.aws", "huggingface.co", "github.com",
	}
}

var (
	// A path from the root or a home folder, of two names at least, where a word may begin; a workload such as
	// 128/128/1 is none.
	pathRE    = regexp.MustCompile(`(^|[\s"'=:(>,;|\[])((?:~|/[\w.@+~-]+)(?:/[\w.@+~-]+)+/?)`)
	windowsRE = regexp.MustCompile(`\b[A-Za-z]:\\(?:[\w.@+~ -]+\\)+[\w.@+~-]*`)
	urlRE     = regexp.MustCompile(`\b(?:https?|grpc|ssh|s3|gs|nfs)://[^\s"'<>&|\\]+`)
	// pass@1 and pass@k are metrics.
	userRE = regexp.MustCompile(`\b[\w.+-]+@[A-Za-z]\w*[.-][\w.-]*\w`)
	// Of an image, with the teams and projects within it.
	registryRE = regexp.MustCompile(
		`(?:\b(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?::\d+)?|\b\d+(?:\.\d+){3}:\d+|\[[0-9A-Fa-f:]{3,}\](?::\d+)?)` +
			`/(?:[\w-][\w.-]*/)*`)
	shortRE = regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9-]*:\d{2,5}/(?:[\w-][\w.-]*/)*([A-Za-z])`)
	// Names that only a network of somebody's own has.
	internalRE = regexp.MustCompile(`(?i)\b[a-z0-9][\w-]*(?:\.[\w-]+)*\.` +
		`(?:internal|local|lan|corp|intranet|localdomain|private|home)\b(?::\d+)?`)
	// As a change states it.
	hostRE = regexp.MustCompile(`\bhost \S+ → [^\s,:]+`)
	// Versions have four parts too.
	privateRE = regexp.MustCompile(
		`\b(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}(?:\.\d{1,3})?(?::\d+)?\b` +
			`|\b\d{1,3}(?:\.\d{1,3}){3}:\d{2,5}\b|\[[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}\](?::\d+)?`)
)
