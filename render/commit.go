package render

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
)

// CommitLinks are where people read commits: addresses with holes, by component ("vllm", "tt_metal"). The address of
// "" is that of a run's only component: with several it is not known whose it is.
type CommitLinks struct {
	Commit  map[string]string // with {commit}
	Compare map[string]string // with {from} and {to}
}

// of is the address of a commit; "" where none is stated. only says that no other component is.
func (l CommitLinks) of(component, id string, only bool) Address {
	return filled(l.Commit, component, only, map[string]string{"{commit}": id})
}

// between is the address of what changed between two commits; "" where none is stated.
func (l CommitLinks) between(component, from, to string, only bool) Address {
	return filled(l.Compare, component, only, map[string]string{"{from}": from, "{to}": to})
}

// filled puts values into the address of a component. A file may state anything as a commit; what cannot be one is no
// part of an address.
func filled(by map[string]string, component string, only bool, values map[string]string) Address {
	address, ok := by[component]
	if !ok && only {
		address = by[""]
	}
	if address == "" {
		return ""
	}
	for hole, v := range values {
		if !isCommit(v) {
			return ""
		}
		address = strings.ReplaceAll(address, hole, url.PathEscape(v))
	}
	return Address(address)
}

// isCommit reports a name that a repository may have for a commit: a hash, a tag, a branch.
func isCommit(s string) bool {
	return s != "" && len(s) <= 100 && s[0] != '-' && s[0] != '.' && !strings.Contains(s, "..") &&
		!strings.ContainsFunc(s, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-/+", c))
		})
}

// External reports an address outside of the site.
func (a Address) External() bool {
	return strings.HasPrefix(string(a), "https://") || strings.HasPrefix(string(a), "http://")
}

// commitLinks are those that may be shown: on a public site those to hosts that do not show whose they are.
func (r *Report) commitLinks() CommitLinks {
	if !r.Public {
		return r.Commits
	}
	public := func(by map[string]string) map[string]string {
		out := map[string]string{}
		for component, address := range by {
			if u, err := url.Parse(address); err == nil && slices.Contains(codeHosts(), u.Host) {
				out[component] = address
			}
		}
		return out
	}
	return CommitLinks{public(r.Commits.Commit), public(r.Commits.Compare)}
}

// codeHosts are where everybody's repositories are.
func codeHosts() []string {
	return []string{"github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "huggingface.co"}
}

// components are those of a run's software that state a commit, in order. The revision of the weights is none.
func components[T any](commits map[string]T) []string {
	return slices.DeleteFunc(sortedNames(commits), func(name string) bool { return name == schema.ModelCommit })
}

// only reports whether a component is a run's only one.
func only[T any](commits map[string]T, name string) bool {
	names := components(commits)
	return len(names) == 1 && names[0] == name
}

// runCommit is the commit of a run, short; of several components the engine's, else the first.
func (r *Report) runCommit(h *columns.RunHead) Cell {
	names := components(h.Commits)
	if len(names) == 0 {
		return Cell{}
	}
	name := names[0]
	if slices.Contains(names, h.Engine) {
		name = h.Engine
	}
	c := Cell{Text: short7(h.Commits[name]), Code: true, Href: r.commitLinks().of(name, h.Commits[name], len(names) == 1)}
	if more := len(names) - 1; more > 0 {
		c.Sub = fmt.Sprintf("of %s, and %s", name, words.Plural(more, "other component"))
	}
	return c
}

// commitRange names the commits of a release and of the one before: "vllm 1a2b3c4..5d6e7f8"; a cell without text where
// none are stated.
func (r *Report) commitRange(release int) Cell {
	before := r.Gate.Before(release)
	if before < 0 {
		return Cell{}
	}
	was, is := r.commitsOf(before), r.commitsOf(release)
	names := moved(was, is)
	if len(names) == 0 {
		return Cell{}
	}
	name := names[0]
	a, b := was[name], is[name]
	return Cell{
		Text: name + " " + short7(a) + ".." + short7(b), Code: true, Sub: differToo(names[1:]),
		Href: r.commitLinks().between(name, a, b, only(is, name)),
	}
}

// moved are the components of which both sides state a commit, and not the same.
func moved(was, is map[string]string) []string {
	return slices.DeleteFunc(components(is), func(name string) bool {
		return was[name] == "" || is[name] == "" || was[name] == is[name]
	})
}

// differToo names the other components that differ: "vllm differs as well"; "" for none.
func differToo(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return names[0] + " differs as well"
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " differ as well"
	}
}

// commitsOf are the commits that a release's newest run states.
func (r *Report) commitsOf(release int) map[string]string {
	runs := r.Releases[release].Runs
	for _, run := range slices.Backward(runs) {
		if c := r.Columns.Runs[run].Commits; len(components(c)) > 0 {
			return c
		}
	}
	return nil
}

func short7(s string) string { return s[:min(7, len(s))] }
